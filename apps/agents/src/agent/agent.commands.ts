import type { Guest, Profile, Resources, SleepReason, StopReason } from './agent.js';
import type { DeployedSource } from './agent-source.js';

/** The commands on an agent. `at` is the current time, ISO 8601. */
export type AgentCommand =
  | {
      readonly type: 'Create';
      readonly agentId: string;
      readonly profile: Profile;
      readonly host: string;
      /** The number of abandoned attempts when this one began; if it has been abandoned since, the command is refused. */
      readonly attempt: number;
      readonly at: string;
    }
  /** Ends the attempt for good, unless the agent exists or the attempt has been abandoned already. */
  | {
      readonly type: 'AbandonCreation';
      readonly agentId: string;
      readonly attempt: number;
      readonly at: string;
    }
  | {
      readonly type: 'Start';
      readonly cause: 'start' | 'restart';
      /** The agent's epoch when the start was admitted; at any other epoch, the command has no effect. */
      readonly admittedAt?: number;
      readonly at: string;
    }
  | {
      readonly type: 'Wake';
      readonly refusedEpoch: number | null;
      /** See `Start`. */
      readonly admittedAt?: number;
      readonly at: string;
    }
  | {
      readonly type: 'ConfirmStarted';
      readonly epoch: number;
      readonly guest: Guest;
      /** The sizes of a cold start; a thawed agent keeps its sizes. */
      readonly resources?: Resources;
      readonly at: string;
    }
  | {
      readonly type: 'FailTransition';
      readonly epoch: number;
      readonly code: string;
      readonly message: string;
      readonly at: string;
    }
  /** The host cannot start agents at present. */
  | {
      readonly type: 'BreakOffStart';
      readonly epoch: number;
      /** Why a new agent fails; null: its start is retried. */
      readonly failure: { readonly code: string; readonly message: string } | null;
      readonly at: string;
    }
  | {
      readonly type: 'Stop';
      readonly target: 'stopped' | 'sleeping';
      /** By default `requested`. */
      readonly reason?: StopReason;
      /** At any other epoch, the command has no effect. */
      readonly epoch?: number;
      readonly at: string;
    }
  /** `warm`: freeze a running agent instead of stopping it. */
  | { readonly type: 'Sleep'; readonly warm: boolean; readonly at: string }
  | { readonly type: 'ConfirmStopped'; readonly epoch: number; readonly at: string }
  | {
      readonly type: 'FallAsleep';
      readonly epoch: number;
      readonly depth: 'warm' | 'cold';
      readonly reason: SleepReason;
      readonly at: string;
    }
  | { readonly type: 'ReportCrash'; readonly epoch: number; readonly message: string; readonly at: string }
  | {
      readonly type: 'ReportCrashLoop';
      readonly epoch: number;
      readonly message: string;
      readonly at: string;
    }
  | {
      readonly type: 'ReportOutOfMemory';
      readonly epoch: number;
      readonly message: string;
      readonly at: string;
    }
  /** `seenAt`: the time of the host's last report; absent if unknown. */
  | { readonly type: 'LoseHost'; readonly seenAt?: string; readonly at: string }
  | { readonly type: 'RemoveHost'; readonly seenAt?: string; readonly at: string }
  /** `alwaysOn`: whether the idle time in force is 0, so that the agent never sleeps. */
  | {
      readonly type: 'SettleAbsence';
      readonly epoch: number;
      readonly alwaysOn: boolean;
      readonly seenAt?: string;
      readonly at: string;
    }
  | { readonly type: 'SettlePresence'; readonly epoch: number; readonly frozen: boolean; readonly at: string }
  /** A deployment has built a version. */
  | { readonly type: 'PrepareVersion'; readonly built: BuiltVersion; readonly at: string }
  | { readonly type: 'RequestDeletion'; readonly at: string }
  | { readonly type: 'ConfirmDeleted'; readonly at: string };

/** The source that a deployment has built, without its version, which the agent assigns. */
export type BuiltVersion = DeployedSource extends infer Source
  ? Source extends DeployedSource
    ? Omit<Source, 'version'>
    : never
  : never;

/** One command by its name. */
export type AgentCommandOf<Type extends AgentCommand['type']> = Extract<
  AgentCommand,
  { readonly type: Type }
>;
