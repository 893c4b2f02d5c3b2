import type { AgentSource } from './agent-source.js';

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

export type Profile = {
  readonly accountId: string;
  readonly name: string;
  readonly templateId: string;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
  readonly instructions: string | null;
  readonly idleTtlSeconds: number;
  readonly labels: { readonly [key: string]: string };
  readonly resources: Resources;
};

/** The events of an agent. Times are ISO 8601. Every start and stop has its own epoch. */
export type AgentEvent =
  | {
      readonly type: 'AgentCreated.v2';
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
      readonly type: 'AgentStarting';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly host: string;
        readonly cause: StartCause;
        /** Whether the host is expected to have frozen processes of the agent. */
        readonly thaw: boolean;
        /** The start fails when it has not succeeded by then. */
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
      readonly type: 'AgentStopping';
      readonly data: {
        readonly agentId: string;
        readonly epoch: number;
        readonly target: 'stopped' | 'sleeping';
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
      readonly type: 'AgentDeletionRequested';
      readonly data: { readonly agentId: string; readonly at: string };
    }
  | { readonly type: 'AgentDeleted'; readonly data: { readonly agentId: string; readonly at: string } };

export type SleepReason = 'idle' | 'requested' | 'cooled' | 'host_restarted' | 'host_shutdown';

/** The state of an agent. */
export type Life =
  | {
      readonly state: 'deploying' | 'starting';
      readonly cause: StartCause;
      readonly thaw: boolean;
      readonly deadline: string;
    }
  | { readonly state: 'running' }
  | { readonly state: 'stopping'; readonly target: 'stopped' | 'sleeping'; readonly deadline: string }
  | { readonly state: 'stopped' }
  | { readonly state: 'sleeping'; readonly depth: 'warm' | 'cold'; readonly reason: SleepReason }
  | { readonly state: 'failed'; readonly code: string; readonly message: string };

export interface LiveAgent {
  readonly status: 'live';
  readonly agentId: string;
  readonly profile: Profile;
  /** The version that its next start runs. */
  readonly source: AgentSource;
  readonly life: Life;
  readonly epoch: number;
  /** The host that holds its volume; null before the first start. */
  readonly host: string | null;
  readonly guest: Guest;
  /** Times of the last recoveries, newest last. */
  readonly recoveries: readonly string[];
  readonly since: string;
}

export type Agent =
  | { readonly status: 'absent' }
  /** Never created; `times` counts the abandoned attempts. */
  | { readonly status: 'abandoned'; readonly times: number }
  | LiveAgent
  | {
      readonly status: 'deleting';
      readonly agentId: string;
      readonly accountId: string;
      readonly host: string | null;
      readonly name: string;
      readonly externalId: string | null;
    }
  | { readonly status: 'deleted' };

export const NO_GUEST: Guest = { version: '', capabilities: [] };

const KEPT_RECOVERIES = 10;

/** The number of abandoned attempts to create the agent. Attempts count from 0, so it is also the next attempt. */
export const timesAbandoned = (agent: Agent): number => (agent.status === 'abandoned' ? agent.times : 0);

/** Whether the agent exists or existed. */
export const wasCreated = ({ status }: Agent): boolean =>
  status === 'live' || status === 'deleting' || status === 'deleted';

const withLife = (agent: Agent, life: Life, at: string, more: Partial<LiveAgent> = {}): Agent =>
  agent.status === 'live' ? { ...agent, life, since: at, ...more } : agent;

/** Applies one event. Pure: the same history always gives the same agent. */
export const evolve = (agent: Agent, event: AgentEvent): Agent => {
  switch (event.type) {
    case 'AgentCreated.v2':
      return created(event.data);
    case 'AgentCreationAbandoned':
      return { status: 'abandoned', times: timesAbandoned(agent) + 1 };
    case 'AgentStarting':
      return starting(agent, event.data);
    case 'AgentStarted':
      return withLife(agent, { state: 'running' }, event.data.at, { guest: event.data.guest });
    case 'AgentFellAsleep': {
      const { depth, reason, at } = event.data;
      return withLife(agent, { state: 'sleeping', depth, reason }, at);
    }
    case 'AgentSleepRequested':
      return agent;
    case 'AgentStopping': {
      const { target, deadline, at, epoch } = event.data;
      return withLife(agent, { state: 'stopping', target, deadline }, at, { epoch });
    }
    case 'AgentStopped':
      return withLife(agent, { state: 'stopped' }, event.data.at);
    case 'AgentFailed':
      return withLife(
        agent,
        { state: 'failed', code: event.data.code, message: event.data.message },
        event.data.at,
      );
    case 'AgentDeletionRequested':
      return deleting(agent);
    case 'AgentDeleted':
      return { status: 'deleted' };
  }
};

const created = ({
  agentId,
  source,
  at,
  ...profile
}: Extract<AgentEvent, { type: 'AgentCreated.v2' }>['data']): LiveAgent => ({
  status: 'live',
  agentId,
  profile,
  source,
  // The first start follows in the same append.
  life: { state: 'stopped' },
  epoch: 0,
  host: null,
  guest: NO_GUEST,
  recoveries: [],
  since: at,
});

const starting = (agent: Agent, data: Extract<AgentEvent, { type: 'AgentStarting' }>['data']): Agent => {
  if (agent.status !== 'live') return agent;
  const state = data.cause === 'deploy' ? 'deploying' : 'starting';
  return {
    ...agent,
    life: { state, cause: data.cause, thaw: data.thaw, deadline: data.deadline },
    epoch: data.epoch,
    host: data.host,
    since: data.at,
    recoveries:
      data.cause === 'recover' ? [...agent.recoveries, data.at].slice(-KEPT_RECOVERIES) : agent.recoveries,
  };
};

const deleting = (agent: Agent): Agent =>
  agent.status === 'live'
    ? {
        status: 'deleting',
        agentId: agent.agentId,
        accountId: agent.profile.accountId,
        host: agent.host,
        name: agent.profile.name,
        externalId: agent.profile.externalId,
      }
    : agent;
