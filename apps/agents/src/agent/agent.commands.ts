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
      /** The epoch of the agent when the start was admitted: at any other one nothing is started. */
      readonly admittedAt?: number;
      readonly at: string;
    }
  | {
      readonly type: 'Wake';
      readonly refusedEpoch: number | null;
      /** As for `Start`. */
      readonly admittedAt?: number;
      readonly at: string;
    }
  | {
      readonly type: 'ConfirmStarted';
      readonly epoch: number;
      readonly guest: Guest;
      /** The sizes of a cold start; a thawed agent keeps those that it has. */
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
  /** The host can start no agent at present. */
  | { readonly type: 'BreakOffStart'; readonly epoch: number; readonly at: string }
  | {
      readonly type: 'Stop';
      readonly target: 'stopped' | 'sleeping';
      /** By default `requested`. */
      readonly reason?: StopReason;
      /** Only while the agent has this epoch. */
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
  /** `seenAt`: when its host last reported before; absent if that is not known. */
  | { readonly type: 'LoseHost'; readonly seenAt?: string; readonly at: string }
  | { readonly type: 'RemoveHost'; readonly seenAt?: string; readonly at: string }
  /** `alwaysOn`: by the idle time in force. */
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

/** What a deployment has built; the agent numbers it. */
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
