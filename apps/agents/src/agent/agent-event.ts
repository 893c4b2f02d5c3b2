import type { Personal } from '@berth/personal-data';
import type { AgentSource, DeployedSource } from './agent-source.js';

/**
 * Why the agent starts. Callers that need it awake wait for a wake or a recovery, and get `agent_deploying` during any
 * other start.
 */
export type StartCause = 'deploy' | 'start' | 'restart' | 'wake' | 'recover';

export type Resources = {
  readonly memMb: number;
  readonly vcpus: number;
  readonly diskGb: number;
};

export type Guest = {
  readonly version: string;
  readonly capabilities: readonly string[];
};

/** The personal data of an agent that belongs to an end user. */
export type AgentIdentity = {
  readonly name: string;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
  readonly instructions: string | null;
  readonly labels: { readonly [key: string]: string };
};

export type Profile = {
  readonly accountId: string;
  readonly templateId: string;
  readonly idleTtlSeconds: number;
  readonly resources: Resources;
  /** About `identityOf(agentId)`. Agents stored before end users had keys have it in plaintext, and no `endUserId`. */
  readonly personal: Personal<AgentIdentity>;
};

/** The events of an agent. Times are ISO 8601. Every start and stop has its own epoch. */
export type AgentEvent =
  | {
      readonly type: 'AgentCreated.v3';
      readonly data: Profile & {
        readonly agentId: string;
        readonly source: AgentSource;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentCreationAbandoned';
      readonly data: { readonly agentId: string; readonly at: string };
    }
  | {
      readonly type: 'AgentStarting.v2';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly host: string;
        readonly cause: StartCause;
        /** Whether the host is expected to have frozen processes of the agent. */
        readonly thaw: boolean;
        /** The version of the source that it starts. */
        readonly version: number;
        /** The start fails if it has not succeeded by this time. */
        readonly deadline: string;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentStarted';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly guest: Guest;
        readonly at: string;
      };
    }
  | {
      /** Its host had nothing to thaw, and has started new processes at this epoch. */
      readonly type: 'AgentStartedAnew';
      readonly data: { readonly agentId: string; readonly epoch: number; readonly at: string };
    }
  | {
      /** The start at this epoch gave it other sizes than it had before. */
      readonly type: 'AgentResized';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly resources: Resources;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentFellAsleep';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly depth: 'warm' | 'cold';
        readonly reason: SleepReason;
        readonly at: string;
      };
    }
  | {
      /** The owner wants it asleep: its host freezes it at this epoch, and at no later one. */
      readonly type: 'AgentSleepRequested';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly host: string;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentStopping.v2';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly target: 'stopped' | 'sleeping';
        readonly reason: StopReason;
        readonly deadline: string;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentStopped';
      readonly data: { readonly agentId: string; readonly epoch: number; readonly at: string };
    }
  | {
      readonly type: 'AgentFailed';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly code: string;
        readonly message: string;
        readonly at: string;
      };
    }
  | {
      /** The kernel ended its program, which is restarted; the state stays. */
      readonly type: 'AgentRanOutOfMemory';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly message: string;
        readonly at: string;
      };
    }
  | {
      /** Its host last reported at `since`; the agent may have ended at any time after that. */
      readonly type: 'AgentUnseen';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly since: string;
        readonly at: string;
      };
    }
  | {
      /** Its host is back, and found that the agent has run since `since`, the host's last report before the loss. */
      readonly type: 'AgentRanUnseen';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly since: string;
        readonly at: string;
      };
    }
  | {
      /** A deployment has built this version; the next start runs it. */
      readonly type: 'AgentVersionPrepared';
      readonly data: { readonly agentId: string; readonly source: DeployedSource; readonly at: string };
    }
  | {
      /** From now on the agent's source is this version. */
      readonly type: 'AgentVersionAdopted';
      readonly data: { readonly agentId: string; readonly source: DeployedSource; readonly at: string };
    }
  | {
      /** The version did not start; the next start runs `source`, the version before it. */
      readonly type: 'AgentVersionAbandoned';
      readonly data: {
        readonly agentId: string;
        readonly version: number;
        readonly deploymentId: string;
        readonly message: string;
        readonly source: AgentSource;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentDeletionRequested';
      readonly data: { readonly agentId: string; readonly at: string };
    }
  | { readonly type: 'AgentDeleted'; readonly data: { readonly agentId: string; readonly at: string } };

/** The cause of a stop: the owner, a suspension of its account or end user, or a used up cap of its end user. */
export type StopReason = 'requested' | 'suspended' | 'compute_cap_reached';

export type SleepReason =
  | StopReason
  | 'idle'
  | 'cooled'
  | 'host_restarted'
  | 'host_shutdown'
  | 'host_unavailable';

/** The events of an agent's versions, which do not change its state. */
export type VersionEvent = Extract<AgentEvent, { readonly type: `AgentVersion${string}` }>;

export const isVersionEvent = (event: AgentEvent): event is VersionEvent =>
  event.type.startsWith('AgentVersion');
