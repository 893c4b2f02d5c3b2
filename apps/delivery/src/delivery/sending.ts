import { DomainError, isDomainError, type ErrorKind } from '@berth/kernel';
import { neverReached } from '@berth/messaging';
import { mayHaveBeenDelivered } from './delivery-failure.js';

/** What a failed sending says of the message: the agent did not get it, it has ended there for good, or it may be there. */
export type SendingFailure = 'not' | 'ended' | 'maybe';

const ELSEWHERE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);

/** Whether the agent is not awake where the message was sent; nothing was done then. */
export const isElsewhere = (error: unknown): error is DomainError =>
  isDomainError(error) && ELSEWHERE.has(error.code);

/** Whatever is not known to say otherwise leaves open whether the agent has the message. */
export const judgeSending = (error: unknown): SendingFailure => {
  if (neverReached(error) || isElsewhere(error)) return 'not';
  if (!isDomainError(error)) return 'maybe';
  if (error.context['handedOver'] === false) return 'not';
  return UNCERTAIN.has(error.kind) ? 'maybe' : 'ended';
};

const UNCERTAIN: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unavailable', 'timeout', 'internal']);

/** What the caller is told. `mayBeThere`: this sending or an earlier one may have reached the agent. */
export const toCallersWords = (error: unknown, mayBeThere: boolean): unknown => {
  if (!isDomainError(error) || error.kind === 'internal') return error;
  if (mayBeThere && judgeSending(error) !== 'ended') return mayHaveBeenDelivered(error);
  const { kind } = error;
  // Between the guest and this service only: callers have `mayHaveBeenDone`.
  const { handedOver: _, ...context } = error.context;
  if (kind !== 'timeout' && kind !== 'unavailable')
    return new DomainError(kind, error.code, error.message, context, { cause: error });
  const words =
    error.code === 'service_unavailable' ? 'The agent cannot be reached; try again.' : error.message;
  const code = kind === 'timeout' ? 'agent_timeout' : 'agent_unavailable';
  return new DomainError(kind, code, words, context, { cause: error });
};
