import type { Policy } from '@berth/contracts/schema';
import { DomainError, isoTime } from '@berth/kernel';
import { monthOf } from '../use/agent-use.js';
import { WAKE_WINDOW_MS } from '../use/end-user-use.projection.js';

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** The facts that a decision on a start is based on. */
export interface CapFacts {
  /** The policy in force; null: nothing limits the end user. */
  readonly policy: Policy | null;
  /** For how long its agents were awake in this month; 0 without a cap. */
  readonly awakeMs: number;
  /** This very wake was admitted before: the caller joins it. */
  readonly isAdmitted: boolean;
  /** Start, in Unix milliseconds, of the wake that must leave the window before another fits; null if one fits. */
  readonly blockedSince: number | null;
}

/**
 * Returns whether the wake has to be counted. Errors: payment_required `compute_cap_reached`; exhausted
 * `wake_limit_reached`. `now`: Unix milliseconds.
 */
export const decideStart = (
  { policy, awakeMs, isAdmitted, blockedSince }: CapFacts,
  isWake: boolean,
  now: number,
): boolean => {
  const minutes = policy?.compute_minutes_cap;
  if (minutes !== undefined && awakeMs >= minutes * MINUTE_MS) throw computeCapReached(now);
  const limit = policy?.wakes_per_hour;
  if (!isWake || limit === undefined || isAdmitted) return false;
  if (limit === 0) throw wakeLimitReached(WAKE_WINDOW_MS / SECOND_MS);
  if (blockedSince === null) return true;
  throw wakeLimitReached(Math.ceil((blockedSince + WAKE_WINDOW_MS - now) / SECOND_MS));
};

const computeCapReached = (now: number): DomainError =>
  new DomainError(
    'payment_required',
    'compute_cap_reached',
    'The agents of the end user have been awake for as long as its policy allows in this month.',
    { resetsAt: isoTime(monthOf(now).next) },
  );

const wakeLimitReached = (retryAfterSeconds: number): DomainError =>
  new DomainError(
    'exhausted',
    'wake_limit_reached',
    'The agents of the end user have been woken as often as its policy allows in 60 minutes.',
    { retryAfterSeconds: Math.max(1, retryAfterSeconds) },
  );
