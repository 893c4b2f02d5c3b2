/**
 * The client sends one request to `url` with `Authorization: Bearer <ticket>`, within 10 s. The ticket is valid once.
 */
export interface OpenedTransfer {
  readonly url: string;
  /** The host that issued the ticket; services of earlier versions leave it out. */
  readonly host?: string;
  /** A secret; it never leaves the gateway and the host. */
  readonly ticket: string;
  readonly epoch: number;
}

/** Destination of an upload, which stays staged until it is complete. */
export interface OpenedStage extends OpenedTransfer {
  readonly staged: StagedRef;
}

/** A staged file, valid only at this host and epoch. */
export interface StagedRef {
  readonly stagedId: string;
  /** The end user who owns the agent; null or absent without one. */
  readonly endUserId?: string | null;
  readonly host: string;
  readonly epoch: number;
}

/** A file in its current state. `path` is absolute, as the agent sees it. */
export interface PutFile {
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}
