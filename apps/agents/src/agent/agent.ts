import {
  isVersionEvent,
  type AgentEvent,
  type AgentIdentity,
  type Guest,
  type Profile,
  type Resources,
  type SleepReason,
  type StartCause,
  type StopReason,
  type VersionEvent,
} from './agent-event.js';
import type { Personal } from '@berth/personal-data';
import type { AgentSource } from './agent-source.js';
import { abandon, firstVersion, prepare, started, type Versions } from './agent-versions.js';

export type {
  AgentEvent,
  AgentIdentity,
  Guest,
  Profile,
  Resources,
  SleepReason,
  StartCause,
  StopReason,
} from './agent-event.js';

/** The state of an agent. */
export type Life =
  | {
      readonly state: 'deploying' | 'starting';
      readonly cause: StartCause;
      readonly thaw: boolean;
      readonly version: number;
      readonly deadline: string;
    }
  | {
      readonly state: 'running';
      /** The last report of its host, once that is silent. */
      readonly seenAt?: string;
    }
  | {
      readonly state: 'stopping';
      readonly target: 'stopped' | 'sleeping';
      readonly reason: StopReason;
      readonly deadline: string;
    }
  | { readonly state: 'stopped' }
  | { readonly state: 'sleeping'; readonly depth: 'warm' | 'cold'; readonly reason: SleepReason }
  | {
      readonly state: 'failed';
      readonly code: string;
      readonly message: string;
      /** Its state when its host was lost; absent if it was running and its host never reported, and after any other failure. */
      readonly was?: Life;
    };

export type StartingLife = Extract<Life, { readonly state: 'deploying' | 'starting' }>;

export interface LiveAgent {
  readonly status: 'live';
  readonly agentId: string;
  readonly profile: Profile;
  readonly source: AgentSource;
  readonly versions: Versions;
  readonly life: Life;
  readonly epoch: number;
  /** The epoch at which its processes were started, which a thaw does not change; 0 before the first start. */
  readonly startEpoch: number;
  /** The host that holds its volume; null before the first start. */
  readonly host: string | null;
  readonly guest: Guest;
  /** The sizes of its last cold start. */
  readonly sizes: Resources;
  /** Size of its volume, which never shrinks; null before the first start. */
  readonly volumeGb: number | null;
  /** Times of the latest recoveries, the newest last. */
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
      readonly personal: Personal<AgentIdentity>;
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
  if (isVersionEvent(event)) return agent.status === 'live' ? withVersion(agent, event) : agent;
  if (isNotice(event)) return noticed(agent, event);
  if (isOfColdStart(event)) return afterColdStart(agent, event);
  switch (event.type) {
    case 'AgentCreated.v3':
      return created(event.data);
    case 'AgentCreationAbandoned':
      return { status: 'abandoned', times: timesAbandoned(agent) + 1 };
    case 'AgentStarting.v2':
      return starting(agent, event.data);
    case 'AgentStarted':
      return hasStarted(agent, event.data);
    case 'AgentFellAsleep':
    case 'AgentStopping.v2':
    case 'AgentStopped':
      return resting(agent, event);
    case 'AgentFailed':
      return withLife(agent, failedLife(agent, event.data), event.data.at);
    case 'AgentDeletionRequested':
      return deleting(agent);
    case 'AgentDeleted':
      return { status: 'deleted' };
  }
};

type Notice = Extract<
  AgentEvent,
  { readonly type: 'AgentSleepRequested' | 'AgentRanOutOfMemory' | 'AgentUnseen' | 'AgentRanUnseen' }
>;

/** Whether the event does not change the state of the agent. */
const isNotice = (event: AgentEvent): event is Notice =>
  event.type === 'AgentSleepRequested' ||
  event.type === 'AgentRanOutOfMemory' ||
  event.type === 'AgentUnseen' ||
  event.type === 'AgentRanUnseen';

const noticed = (agent: Agent, event: Notice): Agent =>
  event.type === 'AgentUnseen' && agent.status === 'live' && agent.life.state === 'running'
    ? { ...agent, life: { state: 'running', seenAt: event.data.since } }
    : agent;

type RestEvent = Extract<
  AgentEvent,
  { readonly type: 'AgentFellAsleep' | 'AgentStopping.v2' | 'AgentStopped' }
>;

const resting = (agent: Agent, event: RestEvent): Agent => {
  const { at } = event.data;
  if (event.type === 'AgentStopped') return withLife(agent, { state: 'stopped' }, at);
  if (event.type === 'AgentFellAsleep') {
    const { depth, reason } = event.data;
    return withLife(agent, { state: 'sleeping', depth, reason }, at);
  }
  const { target, reason, deadline, epoch } = event.data;
  return withLife(agent, { state: 'stopping', target, reason, deadline }, at, { epoch });
};

const failedLife = (
  agent: Agent,
  { code, message }: Extract<AgentEvent, { type: 'AgentFailed' }>['data'],
): Life => {
  const life: Life = { state: 'failed', code, message };
  if (code !== 'host_lost' || agent.status !== 'live') return life;
  const { life: was } = agent;
  return was.state === 'running' && was.seenAt === undefined ? life : { ...life, was };
};

const created = ({
  agentId,
  source,
  at,
  ...profile
}: Extract<AgentEvent, { type: 'AgentCreated.v3' }>['data']): LiveAgent => ({
  status: 'live',
  agentId,
  profile,
  source,
  versions: firstVersion,
  // The first start follows in the same append.
  life: { state: 'stopped' },
  epoch: 0,
  startEpoch: 0,
  host: null,
  guest: NO_GUEST,
  sizes: profile.resources,
  volumeGb: null,
  recoveries: [],
  since: at,
});

const starting = (agent: Agent, data: Extract<AgentEvent, { type: 'AgentStarting.v2' }>['data']): Agent => {
  if (agent.status !== 'live') return agent;
  const state = data.cause === 'deploy' ? 'deploying' : 'starting';
  return {
    ...agent,
    life: { state, cause: data.cause, thaw: data.thaw, version: data.version, deadline: data.deadline },
    epoch: data.epoch,
    host: data.host,
    since: data.at,
    recoveries:
      data.cause === 'recover' ? [...agent.recoveries, data.at].slice(-KEPT_RECOVERIES) : agent.recoveries,
  };
};

const hasStarted = (agent: Agent, { guest, at }: { readonly guest: Guest; readonly at: string }): Agent =>
  agent.status === 'live'
    ? {
        ...agent,
        life: { state: 'running' },
        since: at,
        // `life` has no `thaw` when a lost host returns: the processes are still the same.
        startEpoch: 'thaw' in agent.life && !agent.life.thaw ? agent.epoch : agent.startEpoch,
        guest,
        volumeGb: agent.volumeGb ?? agent.sizes.diskGb,
        versions: afterStart(agent),
      }
    : agent;

/** A host that was lost during a start may return with the started processes. */
const afterStart = ({ life, versions }: LiveAgent): Versions => {
  const start = life.state === 'failed' ? life.was : life;
  return start !== undefined && 'version' in start ? started(versions, start.version) : versions;
};

type ColdStartEvent = Extract<AgentEvent, { readonly type: 'AgentResized' | 'AgentStartedAnew' }>;

const isOfColdStart = (event: AgentEvent): event is ColdStartEvent =>
  event.type === 'AgentResized' || event.type === 'AgentStartedAnew';

const afterColdStart = (agent: Agent, event: ColdStartEvent): Agent => {
  if (agent.status !== 'live') return agent;
  if (event.type === 'AgentStartedAnew') return { ...agent, startEpoch: event.data.epoch };
  const { resources: sizes } = event.data;
  return { ...agent, sizes, volumeGb: Math.max(agent.volumeGb ?? 0, sizes.diskGb) };
};

const withVersion = (agent: LiveAgent, event: VersionEvent): LiveAgent => {
  const { source } = event.data;
  switch (event.type) {
    case 'AgentVersionPrepared':
      return { ...agent, versions: prepare(agent.versions, agent.source, event.data.source) };
    case 'AgentVersionAdopted':
      return { ...agent, source };
    case 'AgentVersionAbandoned':
      return { ...agent, source, versions: abandon(agent.versions, event.data) };
  }
};

const deleting = (agent: Agent): Agent =>
  agent.status === 'live'
    ? {
        status: 'deleting',
        agentId: agent.agentId,
        accountId: agent.profile.accountId,
        host: agent.host,
        personal: agent.profile.personal,
      }
    : agent;
