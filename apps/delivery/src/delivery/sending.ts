import { DomainError, effectOf, isDomainError } from '@berth/kernel';
import { mayHaveBeenDelivered } from './delivery-failure.js';

/**
 * Maps the failure of a delivery to an error for its caller: an unavailable host becomes an unavailable agent. Failures that
 * concern the message itself stay as they are. The effect is kept: with `unknown` the agent may have the message.
 */
export const toCallerError = (error: unknown): unknown => {
  if (!isDomainError(error) || error.kind === 'internal') return error;
  const effect = effectOf(error);
  if (effect === 'unknown') return mayHaveBeenDelivered(error);
  const { kind } = error;
  if (kind !== 'timeout' && kind !== 'unavailable') return error;
  const words =
    error.code === 'service_unavailable' ? 'The agent cannot be reached; try again.' : error.message;
  const code = kind === 'timeout' ? 'agent_timeout' : 'agent_unavailable';
  return new DomainError(kind, code, words, error.context, { cause: error, effect: 'none' });
};
