import type { Profile, SleepReason, StopReason } from './computer.js';

interface At {
  /** ISO 8601. */
  readonly at: string;
}

/** A report about one epoch; about an earlier one it has no effect. */
interface AtEpoch extends At {
  readonly epoch: number;
}

interface Seen extends At {
  /** When the host was seen last, if it ever was. */
  readonly seenAt?: string;
}

/** The commands of one computer. */
export type ComputerCommand =
  | (At & {
      readonly type: 'Create';
      readonly computerId: string;
      readonly profile: Profile;
      readonly host: string;
    })
  /** `retry`: also one that has failed. `refusedEpoch`: the host has just refused this epoch. */
  | (At & { readonly type: 'Wake'; readonly refusedEpoch: number | null; readonly retry: boolean })
  /** `warm`: freezes it, if it runs; the host confirms. */
  | (At & { readonly type: 'Sleep'; readonly warm: boolean })
  /** Without `epoch`: whatever its epoch is. */
  | (At & { readonly type: 'Stop'; readonly reason: StopReason; readonly epoch?: number })
  | (At & { readonly type: 'RequestDeletion' })
  | (At & { readonly type: 'ConfirmDeleted' })
  | (AtEpoch & { readonly type: 'ConfirmStarted' })
  | (AtEpoch & { readonly type: 'ConfirmStopped' })
  | (AtEpoch & { readonly type: 'FailTransition'; readonly code: string; readonly message: string })
  /** The host can start no computer at present; null: for a while. */
  | (AtEpoch & {
      readonly type: 'BreakOffStart';
      readonly failure: { readonly code: string; readonly message: string } | null;
    })
  | (AtEpoch & {
      readonly type: 'FallAsleep';
      readonly depth: 'warm' | 'cold';
      readonly reason: SleepReason;
    })
  | (AtEpoch & { readonly type: 'ReportCrashLoop'; readonly message: string })
  /** The host is up and does not have it. */
  | (AtEpoch & Seen & { readonly type: 'SettleAbsence' })
  /** The host is up and has it at this epoch. */
  | (AtEpoch & { readonly type: 'SettlePresence'; readonly frozen: boolean })
  | (Seen & { readonly type: 'LoseHost' | 'RemoveHost' });

export type ComputerCommandOf<Type extends ComputerCommand['type']> = Extract<
  ComputerCommand,
  { readonly type: Type }
>;
