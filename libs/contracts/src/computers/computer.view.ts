/** `running`: awake. `starting`: being made, or waking. `failed` says nothing of its files, which stay. */
export const COMPUTER_STATUSES = ['starting', 'running', 'sleeping', 'failed', 'deleting'] as const;

export type ComputerStatus = (typeof COMPUTER_STATUSES)[number];

/** A computer, as the API shows it. Times are ISO 8601. */
export interface ComputerView {
  /** `cmp_…` */
  readonly id: string;
  readonly externalUserId: string | null;
  readonly name: string | null;
  readonly status: ComputerStatus;
  /** Pixels. */
  readonly display: { readonly width: number; readonly height: number };
  /** `memMb` in MiB, `diskGb` in GiB. */
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** 0: never. */
  readonly idleTtlSeconds: number;
  readonly createdAt: string;
  readonly lastActiveAt: string;
  /** When it will sleep unless it is used; null while it is in use, asleep, or never sleeps. */
  readonly sleepAt: string | null;
}

export const VIEWER_MODES = ['view', 'control'] as const;

/** What a viewer may do: `view` only shows the screen. */
export type ViewerMode = (typeof VIEWER_MODES)[number];

/** A viewer session that lives. Times are ISO 8601. */
export interface ViewerSessionView {
  /** `vws_…` */
  readonly sessionId: string;
  readonly mode: ViewerMode;
  readonly takeover: boolean;
  /** `waiting`: no socket has been opened yet. */
  readonly status: 'waiting' | 'open';
  readonly createdAt: string;
  readonly openedAt: string | null;
  readonly expiresAt: string;
}
