import { feedbackRequests, type FeedbackView } from '@berth/contracts/accounts';
import { newId, type DomainError } from '@berth/kernel';
import { SteppedClock } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, quiet } from '../running-accounts.fixture.js';
import { ServedAccounts } from '../served-accounts.fixture.js';

const PER_MINUTE = 5;
const PER_DAY = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const clock = new SteppedClock();
let accounts: ServedAccounts;

beforeAll(async () => {
  accounts = await ServedAccounts.start(2, quiet, clock);
});
afterAll(() => accounts.stop());

const report = (accountId: string): Promise<FeedbackView> =>
  accounts.requester.request(feedbackRequests.report, {
    ...envelope(accountId),
    ...{ commandId: newId('cmd'), keyId: 'key_1', kind: 'bug', message: 'x' },
    ...{ subject: null, requestId: null, statusCode: null, tool: null },
  });

/** How many of so many concurrent reports are stored. */
const stored = async (accountId: string, count: number): Promise<number> => {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => report(accountId)));
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as DomainError] : []));
  expect(new Set(refused.map(({ code }) => code))).toEqual(
    new Set(refused.length === 0 ? [] : ['rate_limited']),
  );
  return count - refused.length;
};

describe('the rate of feedback, in two processes', () => {
  it('is exact under concurrency, a minute later too, and in any 24 hours', async () => {
    const accountId = newId('acc');
    let all = 0;
    for (let minute = 0; minute < PER_DAY / PER_MINUTE; minute++) {
      const more = await stored(accountId, PER_MINUTE + 3);
      expect(more).toBe(PER_MINUTE);
      all += more;
      clock.step(MINUTE_MS);
    }
    expect(all).toBe(PER_DAY);
    expect(await stored(accountId, 3)).toBe(0);
    clock.step(24 * HOUR_MS - 4 * MINUTE_MS);
    expect(await stored(accountId, PER_MINUTE + 3)).toBe(PER_MINUTE);
  });

  it('blocks nobody for an hour after the clock was set back by one', async () => {
    const accountId = newId('acc');
    expect(await stored(accountId, PER_MINUTE + 1)).toBe(PER_MINUTE);
    clock.step(-HOUR_MS);
    expect(await stored(accountId, PER_MINUTE + 1)).toBe(PER_MINUTE);
  });

  it('counts the reports of the last 24 hours also after the clock was set back', async () => {
    const accountId = newId('acc');
    for (let minute = 0; minute < PER_DAY / PER_MINUTE; minute++) {
      expect(await stored(accountId, PER_MINUTE)).toBe(PER_MINUTE);
      clock.step(MINUTE_MS);
    }
    clock.step(-HOUR_MS);
    const refusal = await report(accountId).then(
      () => undefined,
      ({ context }: DomainError) => context,
    );
    expect(refusal?.['retryAfterSeconds']).toBeGreaterThan(24 * 3_600);
  });
});
