import { join } from 'node:path';
import { decideGiven, isDomainError } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { feedbackCodec, feedbackDecider, type FeedbackEvent } from './feedback.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), feedbackCodec, { FeedbackReported: true });

const START = Date.parse('2026-11-23T08:00:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const data = (millis: number): FeedbackEvent['data'] => ({
  ...{ feedbackId: 'fbk_1', accountId: 'acc_1', keyId: 'key_1', kind: 'bug', messageLength: 3 },
  at: new Date(START + millis).toISOString(),
});
/** 0 if a report at `millis` is accepted after reports at `earlier`, otherwise the seconds to wait. */
const waitAt = (millis: number, earlier: readonly number[]): unknown => {
  const history = earlier.map((time): FeedbackEvent => ({ type: 'FeedbackReported', data: data(time) }));
  const { events, refusal } = decideGiven(feedbackDecider, history, { type: 'Report', ...data(millis) });
  if (!isDomainError(refusal, 'exhausted')) return events.length === 1 ? 0 : refusal;
  expect(refusal.code).toBe('rate_limited');
  return refusal.context['retryAfterSeconds'];
};

describe('the reports of an account', () => {
  it('are at most 5 in any 60 s', () => {
    const five = [0, 1_000, 2_000, 3_000, 4_000];
    expect(waitAt(4_000, five.slice(1))).toBe(0);
    expect(waitAt(4_500, five)).toBe(56);
    expect(waitAt(59_999, five)).toBe(1);
    expect(waitAt(60_000, five)).toBe(0);
  });

  it('are at most 20 in any 24 h: the next is accepted when the oldest of them is 24 h old', () => {
    const day = Array.from({ length: 20 }, (_, hour) => hour * HOUR_MS);
    expect(waitAt(20 * HOUR_MS, day.slice(1))).toBe(0);
    expect(waitAt(20 * HOUR_MS, day)).toBe(4 * 3_600);
    expect(waitAt(24 * HOUR_MS - 1, day)).toBe(1);
    expect(waitAt(24 * HOUR_MS, day)).toBe(0);
    expect(waitAt(24 * HOUR_MS + 1_000, [...day, 24 * HOUR_MS])).toBe(3_599);
  });

  it('wait for the longer of the two limits', () => {
    const last = 22 * HOUR_MS;
    const day = [...Array.from({ length: 15 }, (_, n) => n * MINUTE_MS * 2), last, last, last, last, last];
    expect(waitAt(last, day)).toBe(2 * 3_600);
  });

  it('count after the clock was set back, unless they are further ahead than the window', () => {
    const ahead = [0, 1, 2, 3, 4].map((n) => HOUR_MS + n);
    expect(waitAt(HOUR_MS - 1_000, ahead)).toBe(61);
    expect(waitAt(0, ahead)).toBe(0);
    expect(waitAt(5, [...ahead, 0, 1, 2, 3, 4])).toBe(60);
    const day = Array.from({ length: 20 }, (_, n) => 12 * HOUR_MS + n * 2 * MINUTE_MS);
    expect(waitAt(11 * HOUR_MS, day)).toBe(25 * 3_600);
    expect(waitAt(-13 * HOUR_MS, day)).toBe(0);
  });
});
