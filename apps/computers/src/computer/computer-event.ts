import type { ComputerView } from '@berth/contracts/computers';
import type { Personal } from '@berth/personal-data';

/** What is personal about a computer. */
export type ComputerIdentity = {
  readonly name: string | null;
  readonly externalUserId: string | null;
};

/** What a computer keeps from its creation on. */
export type Profile = {
  readonly accountId: string;
  readonly personal: Personal<ComputerIdentity>;
  readonly display: ComputerView['display'];
  readonly resources: ComputerView['resources'];
  readonly idleTtlSeconds: number;
};

export type StartCause = 'create' | 'wake';

/** Why a computer is stopped. */
export type StopReason = 'requested' | 'suspended';

/** Why a computer sleeps. */
export type SleepReason =
  | StopReason
  | 'idle'
  | 'host_shutdown'
  | 'host_restarted'
  | 'host_unavailable'
  /** Its warm sleep has lasted its time. */
  | 'cooled'
  /** Its processes have ended by themselves. */
  | 'exited';

type AtEpoch = { readonly computerId: string; readonly epoch: number; readonly at: string };

/** The events of a computer, in the form in which they are stored. Times are ISO 8601. */
export type ComputerEvent =
  | {
      readonly type: 'ComputerCreated';
      readonly data: Profile & { readonly computerId: string; readonly at: string };
    }
  | {
      readonly type: 'ComputerStarting';
      readonly data: AtEpoch & {
        readonly host: string;
        readonly cause: StartCause;
        readonly thaw: boolean;
        readonly deadline: string;
      };
    }
  | { readonly type: 'ComputerStarted'; readonly data: AtEpoch }
  /** The host was asked to freeze it. */
  | { readonly type: 'ComputerSleepRequested'; readonly data: AtEpoch & { readonly host: string } }
  | {
      readonly type: 'ComputerStopping';
      readonly data: AtEpoch & { readonly reason: StopReason; readonly deadline: string };
    }
  | {
      readonly type: 'ComputerFellAsleep';
      readonly data: AtEpoch & { readonly depth: 'warm' | 'cold'; readonly reason: SleepReason };
    }
  | {
      readonly type: 'ComputerFailed';
      readonly data: AtEpoch & { readonly code: string; readonly message: string };
    }
  /** It ran when its host fell silent; it is known to have run until `since` only. */
  | { readonly type: 'ComputerUnseen'; readonly data: AtEpoch & { readonly since: string } }
  /** Its host is back, and it has run since `since`. */
  | { readonly type: 'ComputerRanUnseen'; readonly data: AtEpoch & { readonly since: string } }
  | {
      readonly type: 'ComputerDeletionRequested';
      readonly data: { readonly computerId: string; readonly at: string };
    }
  | { readonly type: 'ComputerDeleted'; readonly data: { readonly computerId: string; readonly at: string } };
