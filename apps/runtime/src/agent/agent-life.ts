import type { ObservedAgent } from '@berth/contracts/runtime';
import type { AgentRecord } from './agent-record.js';
import type { BoxedGuest } from './boxed-guest.js';

/** State of an agent on this host. */
export type Life =
  | { readonly at: 'resting' | 'starting' }
  | { readonly at: 'awake' | 'frozen'; readonly guest: BoxedGuest };

/** The epoch of an agent at this moment, and its guest. */
export interface CurrentGuest {
  readonly epoch: number;
  /** When its box was started, ISO 8601; null without one. */
  readonly startedAt: string | null;
  /** The guest, if the agent is awake. */
  readonly awake: BoxedGuest | null;
}

/** What the host announces about the agent; null while it rests. */
export const observedAgent = (
  { agentId, epoch, idleTtlSeconds }: AgentRecord,
  { at }: Life,
): ObservedAgent | null =>
  at === 'resting' ? null : { agentId, epoch, state: at === 'awake' ? 'running' : at, idleTtlSeconds };

/**
 * Whether a thaw at this epoch finds processes to wake, or has woken them. Not if they were started at this epoch: then a
 * start has followed an earlier thaw, and that start, asked for again, says what it started.
 */
export const canThaw = (
  life: Life,
  epoch: number,
  { boxEpoch }: Pick<AgentRecord, 'boxEpoch'>,
): life is Extract<Life, { readonly at: 'awake' | 'frozen' }> =>
  life.at === 'frozen' || (life.at === 'awake' && epoch !== boxEpoch);
