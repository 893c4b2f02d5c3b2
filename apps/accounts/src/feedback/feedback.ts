import { FEEDBACK_LIMITS, type FeedbackKind } from '@berth/contracts/accounts';
import type { EventCodec } from '@berth/event-store';
import { DomainError, type Decider } from '@berth/kernel';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** The reports of an account. The log never contains what they say. */
export interface FeedbackEvent {
  readonly type: 'FeedbackReported';
  readonly data: {
    readonly feedbackId: string;
    readonly accountId: string;
    readonly keyId: string;
    readonly kind: FeedbackKind;
    readonly messageLength: number;
    /** ISO 8601. */
    readonly at: string;
  };
}

export type FeedbackCommand = { readonly type: 'Report' } & FeedbackEvent['data'];

/** The times of the last reports, oldest first, in milliseconds: no more than a day may have. */
export interface Feedback {
  readonly at: readonly number[];
}

/** Errors: exhausted `rate_limited` with `retryAfterSeconds`. */
const decide = (command: FeedbackCommand, { at }: Feedback): readonly FeedbackEvent[] => {
  const { type: _, ...data } = command;
  const now = Date.parse(data.at);
  const waitMs = Math.max(
    waitOf(at, now, MINUTE_MS, FEEDBACK_LIMITS.perMinute),
    waitOf(at, now, DAY_MS, FEEDBACK_LIMITS.perDay),
  );
  if (waitMs > 0) throw tooMany(waitMs);
  return [{ type: 'FeedbackReported', data }];
};

/**
 * How long until fewer than `most` reports are younger than `windowMs`. The time of a report may be in the future, because
 * the clock was set back since; one that is further away than the window does not count.
 */
const waitOf = (at: readonly number[], now: number, windowMs: number, most: number): number => {
  const young = at.filter((time) => Math.abs(time - now) < windowMs).sort((one, other) => one - other);
  const first = young.at(-most);
  return first === undefined ? 0 : first + windowMs - now;
};

const tooMany = (waitMs: number): DomainError =>
  new DomainError('exhausted', 'rate_limited', 'The account sends too many reports; try again later.', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });

/** The rate of an account's reports: exact, because the log accepts each decision at one revision only. */
export const feedbackDecider: Decider<Feedback, FeedbackCommand, FeedbackEvent> = {
  initial: { at: [] },
  decide,
  evolve: ({ at }, { data }) => ({ at: [...at, Date.parse(data.at)].slice(-FEEDBACK_LIMITS.perDay) }),
};

const isFeedbackEvent = (stored: { readonly type: string }): stored is FeedbackEvent =>
  stored.type === 'FeedbackReported';

/** Codec of the streams `feedback-acc_…`. */
export const feedbackCodec: EventCodec<FeedbackEvent> = {
  category: 'feedback',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isFeedbackEvent(stored))
      throw new Error(`A feedback stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
