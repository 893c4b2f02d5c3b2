import { isDomainError, type ErrorKind } from '@berth/kernel';
import type { FiringOutcome } from './fire.command-handler.js';
import { Declined } from './hand-over-attempt.js';

/** The same pauses as for webhooks. */
const AFTER_DECLINED_MS = [1_000, 4_000, 16_000, 64_000] as const;
const MOST_PAUSE_MS = 5_000;
/** Longer than a deployment may take. */
const DEPLOYING_MS = 16 * 60_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/** Kinds of errors that are not about the agent: the firing is retried until `GIVEN_UP_AFTER_MS`. */
const OUTAGES: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unavailable', 'timeout', 'internal']);

/** Decides after a failed attempt. `attempt` counts from 1, `ageMs` is the time since the firing. */
export const retryAfter = (
  error: unknown,
  { attempt, ageMs }: { readonly attempt: number; readonly ageMs: number },
): FiringOutcome | { readonly retryAfterMs: number } => {
  const retryAfterMs = Math.min(250 * 2 ** attempt, MOST_PAUSE_MS);
  if (error instanceof Declined) {
    const pauseMs = AFTER_DECLINED_MS[attempt - 1];
    return pauseMs === undefined ? refused(DECLINED) : { retryAfterMs: pauseMs };
  }
  if (!isDomainError(error)) return ageMs < GIVEN_UP_AFTER_MS ? { retryAfterMs } : refused(UNAVAILABLE);
  if (error.code === 'agent_deploying') return ageMs < DEPLOYING_MS ? { retryAfterMs } : refused(error);
  return OUTAGES.has(error.kind) && ageMs < GIVEN_UP_AFTER_MS ? { retryAfterMs } : refused(error);
};

const DECLINED = { code: 'agent_error', message: 'The program of the agent declined the prompt.' };
const UNAVAILABLE = { code: 'agent_unavailable', message: 'The agent could not be reached for a day.' };

const refused = ({ code, message }: { readonly code: string; readonly message: string }): FiringOutcome => ({
  ran: false,
  error: { code, message },
});
