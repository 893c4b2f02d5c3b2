import type { AgentView } from '@berth/contracts/agents';
import type { AgentSource } from '../agent/agent-source.js';
import { isVersionEvent, type VersionEvent } from '../agent/agent-event.js';
import type { AgentEvent, AgentIdentity, Resources } from '../agent/agent.js';

/** One row of the agent list, columns as in the table. Times are ISO 8601. */
export interface AgentRow {
  readonly id: string;
  readonly account_id: string;
  /** null for an agent without an end user, and for one that was stored before end users had keys. */
  readonly end_user_id: string | null;
  /** This and the next four are null if they are sealed and were not opened, for example because the key is destroyed. */
  readonly name: string | null;
  readonly external_id: string | null;
  readonly external_user_id: string | null;
  readonly instructions: string | null;
  readonly labels: { readonly [key: string]: string } | null;
  readonly template_id: string;
  readonly state: string;
  readonly state_reason: string | null;
  readonly state_changed_at: string;
  readonly last_error: { readonly code: string; readonly message: string; readonly at: string } | null;
  readonly idle_ttl_seconds: number;
  readonly sleep_depth: 'warm' | 'cold' | null;
  readonly source: AgentView['source'];
  /** The agent's own sizes; the policy of its end user may replace them. */
  readonly resources: Resources;
  readonly volume_gb: number | null;
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
  readonly epoch: number;
  readonly host: string | null;
  /** Deadline of a transient state; null in any other. */
  readonly deadline_at: string | null;
  /** When the agent last started or woke, which counts as activity. */
  readonly woken_at: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const CAUSE_REASONS = {
  deploy: 'deploying',
  start: 'start_requested',
  restart: 'restart_requested',
  wake: 'waking',
  recover: 'recovering',
} as const;

type Creation = Extract<AgentEvent, { type: 'AgentCreated.v3' }>['data'];

/** Returns the identity of a new agent; null if it is sealed and cannot be opened. */
export type OpenIdentity = (creation: Creation) => AgentIdentity | null;

const unlessSealed: OpenIdentity = ({ personal }) => (personal.endUserId === null ? personal.data : null);

/** Applies an event to the row; null removes the row. Pure. */
export const evolveRow = (
  row: AgentRow | null,
  event: AgentEvent,
  open: OpenIdentity = unlessSealed,
): AgentRow | null => {
  if (event.type === 'AgentCreated.v3') return newRow(event.data, open(event.data));
  if (row === null || event.type === 'AgentDeleted') return null;
  if (keepsState(event)) return inSameState(row, event);
  const changed = {
    ...row,
    state_changed_at: event.data.at,
    updated_at: event.data.at,
    deadline_at: null,
    sleep_depth: null,
  };
  switch (event.type) {
    case 'AgentStarting.v2': {
      const { epoch, host, deadline, cause, at } = event.data;
      const state = cause === 'deploy' ? 'deploying' : 'starting';
      const reason = { state, state_reason: CAUSE_REASONS[cause] };
      return { ...changed, ...reason, epoch, host, deadline_at: deadline, woken_at: at };
    }
    case 'AgentStarted':
      return { ...changed, ...runningWith(row, event.data.guest) };
    case 'AgentFellAsleep':
      return {
        ...changed,
        state: 'sleeping',
        state_reason: event.data.reason,
        sleep_depth: event.data.depth,
      };
    case 'AgentStopping.v2':
      return {
        ...changed,
        state: 'stopping',
        state_reason: null,
        epoch: event.data.epoch,
        deadline_at: event.data.deadline,
      };
    case 'AgentStopped':
      return { ...changed, state: 'stopped', state_reason: 'stop_requested' };
    case 'AgentFailed': {
      const { code, message, at } = event.data;
      return { ...changed, state: 'failed', state_reason: code, last_error: { code, message, at } };
    }
    case 'AgentDeletionRequested':
      // The identity must go now: the deletion waits for the host, which may never return.
      return {
        ...changed,
        ...identityColumns(null),
        state: 'deleting',
        state_reason: 'delete_requested',
      };
    case 'AgentCreationAbandoned':
      return null;
  }
};

const runningWith = (row: AgentRow, guest: AgentRow['guest']) => ({
  state: 'running',
  state_reason: null,
  guest,
  volume_gb: row.volume_gb ?? row.resources.diskGb,
});

type SameStateEvent =
  | VersionEvent
  | Extract<
      AgentEvent,
      {
        readonly type:
          | 'AgentSleepRequested'
          | 'AgentStartedAnew'
          | 'AgentResized'
          | 'AgentRanOutOfMemory'
          | 'AgentUnseen'
          | 'AgentRanUnseen';
      }
    >;

const keepsState = (event: AgentEvent): event is SameStateEvent =>
  event.type === 'AgentSleepRequested' ||
  event.type === 'AgentStartedAnew' ||
  event.type === 'AgentResized' ||
  event.type === 'AgentRanOutOfMemory' ||
  event.type === 'AgentUnseen' ||
  event.type === 'AgentRanUnseen' ||
  isVersionEvent(event);

const inSameState = (row: AgentRow, event: SameStateEvent): AgentRow => {
  if (event.type === 'AgentSleepRequested' || event.type === 'AgentStartedAnew') return row;
  // The event that follows sets the new state.
  if (event.type === 'AgentUnseen' || event.type === 'AgentRanUnseen') return row;
  if (event.type === 'AgentResized')
    return { ...row, volume_gb: Math.max(row.volume_gb ?? 0, event.data.resources.diskGb) };
  if (event.type !== 'AgentRanOutOfMemory') return withVersion(row, event);
  const { message, at } = event.data;
  return { ...row, updated_at: at, last_error: { code: 'out_of_memory', message, at } };
};

const withVersion = (row: AgentRow, event: VersionEvent): AgentRow => {
  if (event.type === 'AgentVersionPrepared') return row;
  const { source, at } = event.data;
  const changed = { ...row, source: publicSource(source), updated_at: at };
  if (event.type === 'AgentVersionAdopted') return changed;
  return { ...changed, last_error: { code: 'version_did_not_start', message: event.data.message, at } };
};

/** The columns that hold the identity; all null if it is unknown. */
export const identityColumns = (
  identity: AgentIdentity | null,
): Pick<AgentRow, 'name' | 'external_id' | 'external_user_id' | 'instructions' | 'labels'> => ({
  name: identity?.name ?? null,
  external_id: identity?.externalId ?? null,
  external_user_id: identity?.externalUserId ?? null,
  instructions: identity?.instructions ?? null,
  labels: identity?.labels ?? null,
});

const newRow = ({ agentId, source, at, ...profile }: Creation, identity: AgentIdentity | null): AgentRow => ({
  id: agentId,
  account_id: profile.accountId,
  end_user_id: profile.personal.endUserId,
  ...identityColumns(identity),
  template_id: profile.templateId,
  state: 'deploying',
  state_reason: null,
  state_changed_at: at,
  last_error: null,
  idle_ttl_seconds: profile.idleTtlSeconds,
  sleep_depth: null,
  source: publicSource(source),
  resources: profile.resources,
  volume_gb: null,
  guest: { version: '', capabilities: [] },
  epoch: 0,
  host: null,
  deadline_at: null,
  woken_at: at,
  created_at: at,
  updated_at: at,
});

/** The part of a source that the API shows. */
const publicSource = (source: AgentSource): AgentView['source'] => {
  switch (source.kind) {
    case 'template':
      return { kind: 'template' };
    case 'git':
      return { kind: 'git', repoUrl: source.repoUrl, branch: source.branch, commit: source.commit };
    case 'image':
      return { kind: 'image', image: source.image };
  }
};
