import { DomainError, isoTime } from '@berth/kernel';
import { monthOf } from '../use/agent-use.js';
import { WAKE_WINDOW_MS } from '../use/end-user-use.projection.js';

const SECOND_MS = 1_000;

/** The decision on a start, which `WakeLedger` makes in one statement with the count of its wake. */
export interface StartDecision {
  /** `fits`: a wake below the limit. `not_limited`: no wake, or one without a limit, or one that was counted before. */
  readonly verdict: 'suspended' | 'compute_cap_reached' | 'wake_limit_reached' | 'not_limited' | 'fits';
  /** Start, in Unix milliseconds, of the wake that must leave the window before another fits; null if there is none. */
  readonly blockedSince: number | null;
}

/**
 * Errors: payment_required `compute_cap_reached`; exhausted `wake_limit_reached`. `now`: Unix milliseconds.
 */
export const refuseStart = ({ verdict, blockedSince }: StartDecision, now: number): void => {
  if (verdict === 'compute_cap_reached') throw computeCapReached(now);
  if (verdict === 'wake_limit_reached')
    throw wakeLimitReached(Math.ceil(((blockedSince ?? now) + WAKE_WINDOW_MS - now) / SECOND_MS));
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
