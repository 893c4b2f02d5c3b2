import type { AgentEvent, StartCause } from '../agent/agent.js';

/** An agent's current state, as far as its use is counted. */
export type UseState =
  /** Asleep or stopped, or on the way there: a start that was asked for is a wake. */
  'resting' | 'starting' | 'running' | 'failed';

/** One row per agent of an end user. Times are ISO 8601. */
export interface AgentUse {
  readonly agent_id: string;
  readonly end_user_id: string;
  readonly state: UseState;
  readonly epoch: number;
  /** Since when it has been running; null when it is not. */
  readonly running_since: string | null;
}

/** A time for which an agent was awake. */
export interface Awake {
  readonly from: string;
  readonly to: string;
}

/** The amounts that an event adds to the use of the agent's end user. */
export interface UseChange {
  /** null: the agent is gone. */
  readonly use: AgentUse | null;
  readonly awake: Awake | null;
  readonly wake: { readonly epoch: number; readonly at: string } | null;
}

/**
 * Whether a start is a wake: somebody asked for it while the agent rested, or a wake found the agent frozen before its host
 * reported it. A start after a failure, a recovery and a deployment are none, and neither is the second try of a wake.
 */
export const isWake = (cause: StartCause, state: UseState): boolean =>
  cause === 'wake'
    ? state === 'resting' || state === 'running'
    : (cause === 'start' || cause === 'restart') && state === 'resting';

/** Applies an event. Agents without an end user have no use (null). Pure. */
export const changeUse = (use: AgentUse | null, event: AgentEvent): UseChange => {
  if (event.type === 'AgentCreated.v3') return { use: newUse(event.data), awake: null, wake: null };
  if (use === null) return { use, awake: null, wake: null };
  return event.type === 'AgentUnseen' ? unseen(use, event.data.since) : changeKnown(use, event);
};

const changeKnown = (use: AgentUse, event: AgentEvent): UseChange => {
  const { at } = event.data;
  const awake = use.running_since === null ? null : { from: use.running_since, to: at };
  const rest = (state: UseState): UseChange => ({
    use: { ...use, state, running_since: null },
    awake,
    wake: null,
  });
  switch (event.type) {
    case 'AgentStarting.v2': {
      const { epoch, cause } = event.data;
      const next: AgentUse = { ...use, state: 'starting', epoch, running_since: null };
      return { use: next, awake, wake: isWake(cause, use.state) ? { epoch, at } : null };
    }
    case 'AgentRanUnseen':
      // The next event has the new state.
      return {
        use: { ...use, running_since: use.running_since ?? event.data.since },
        awake: null,
        wake: null,
      };
    case 'AgentStarted':
      return {
        use: { ...use, state: 'running', running_since: use.running_since ?? at },
        awake: null,
        wake: null,
      };
    case 'AgentStopping.v2':
      return {
        ...rest('resting'),
        use: { ...use, state: 'resting', epoch: event.data.epoch, running_since: null },
      };
    case 'AgentFellAsleep':
    case 'AgentStopped':
      return rest('resting');
    case 'AgentFailed':
    case 'AgentDeletionRequested':
      return rest('failed');
    case 'AgentDeleted':
    case 'AgentCreationAbandoned':
      return { use: null, awake, wake: null };
    default:
      return { use, awake: null, wake: null };
  }
};

/** The agent's host last reported at `since`; the next event has the new state. */
const unseen = (use: AgentUse, since: string): UseChange => {
  const { running_since: from } = use;
  const awake = from === null || Date.parse(from) >= Date.parse(since) ? null : { from, to: since };
  return { use: { ...use, running_since: null }, awake, wake: null };
};

const newUse = ({
  agentId,
  personal: { endUserId },
}: Extract<AgentEvent, { type: 'AgentCreated.v3' }>['data']): AgentUse | null =>
  endUserId === null
    ? null
    : { agent_id: agentId, end_user_id: endUserId, state: 'failed', epoch: 0, running_since: null };

/** Milliseconds by the first day of the month (UTC, `2026-11-01`) in which they lie. */
export const byMonth = ({ from, to }: Awake): ReadonlyMap<string, number> => {
  const months = new Map<string, number>();
  const end = Date.parse(to);
  for (let start = Date.parse(from); start < end;) {
    const { month, next } = monthOf(start);
    months.set(month, Math.min(next, end) - start);
    start = next;
  }
  return months;
};

/** The month (UTC) of a time: its first day (`2026-11-01`), and the beginnings of it and of the next one in Unix milliseconds. */
export const monthOf = (
  time: number,
): { readonly month: string; readonly begin: number; readonly next: number } => {
  const date = new Date(time);
  const begin = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return { month: new Date(begin).toISOString().slice(0, 10), begin, next };
};

const MINUTE_MS = 60_000;
const DECIMALS = 1_000_000;

/** Minutes with at most six decimals. */
export const minutesOf = (milliseconds: number): number =>
  Math.round((milliseconds / MINUTE_MS) * DECIMALS) / DECIMALS;
