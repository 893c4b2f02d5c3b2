import { DomainError, effectOf, isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';

/** Bridges a short loss of a host's connection; the caller still gets its 503 within 5 s. */
const REACH_WITHIN_MS = 3_000;
const PAUSE_MS = 250;

/**
 * Calls `ask` again for up to 3 s while it is certain that no handler began the request; then throws unavailable
 * `agent_unavailable` with the effect `none`. Rethrows any other error of `ask` at once.
 */
export const untilReached = async <Response>(ask: () => Promise<Response>): Promise<Response> => {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnreached(error)) throw error;
      if (performance.now() - startedAt > REACH_WITHIN_MS)
        throw agentUnavailable('The agent cannot be reached. Try again in a moment.', error);
      await pause(PAUSE_MS);
    }
  }
};

/** Whether no handler began the request because none was reachable. */
const isUnreached = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && error.code === 'service_unavailable' && effectOf(error) === 'none';

/** Nothing was done with the agent. */
export const agentUnavailable = (message: string, cause: unknown): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', message, {}, { cause, effect: 'none' });
