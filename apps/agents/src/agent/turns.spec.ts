import { DomainError } from '@berth/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { inTurns } from './turns.js';

const AT_A_TIME = 8;
const outage = new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');

let now = 0;
let take: ReturnType<typeof inTurns>;
beforeEach(() => {
  take = inTurns(() => now);
});

/** Work that has begun, and the outcomes of all callers so far. */
class Callers {
  readonly begun: PromiseWithResolvers<void>[] = [];
  readonly outcomes: unknown[] = [];

  come(count: number): void {
    for (let n = 0; n < count; n++)
      take(() => {
        const work = Promise.withResolvers<void>();
        this.begun.push(work);
        return work.promise;
      }).then(
        () => this.outcomes.push('done'),
        (error: unknown) => this.outcomes.push(error),
      );
  }
}
/** Everything that can happen without further time or work has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('work in turns', () => {
  it('is done eight at a time, and all of it', async () => {
    const callers = new Callers();
    callers.come(20);
    for (const begun of [8, 16, 20]) {
      await settled();
      expect(callers.begun).toHaveLength(begun);
      for (const { resolve } of callers.begun) resolve();
    }
    await settled();
    expect(callers.outcomes).toEqual(Array.from({ length: 20 }, () => 'done'));
  });

  it('ends for all that wait when one fails in an outage, and continues for later callers', async () => {
    const callers = new Callers();
    callers.come(20);
    await settled();
    now += 4_500;
    callers.begun[0]?.reject(outage);
    await settled();
    expect(callers.outcomes).toEqual(Array.from({ length: 20 - AT_A_TIME + 1 }, () => outage));
    callers.come(1);
    await settled();
    expect(callers.begun).toHaveLength(AT_A_TIME + 1);
  });

  it('continues for those that wait when one fails while other work succeeds', async () => {
    const callers = new Callers();
    callers.come(20);
    await settled();
    now += 4_500;
    callers.begun[0]?.resolve();
    callers.begun[1]?.reject(outage);
    await settled();
    expect(callers.outcomes).toEqual(['done', outage]);
    expect(callers.begun).toHaveLength(AT_A_TIME + 2);
  });

  it.each([
    ['at once', 0, outage],
    ['for a reason of its own', 4_500, new DomainError('unavailable', 'no_capacity', 'Full.')],
    ['without a known reason', 4_500, new Error('broken')],
  ])('continues for those that wait when one fails %s', async (_, millis, error) => {
    const callers = new Callers();
    callers.come(20);
    await settled();
    now += millis;
    callers.begun[0]?.reject(error);
    await settled();
    expect(callers.outcomes).toEqual([error]);
    expect(callers.begun).toHaveLength(AT_A_TIME + 1);
  });
});
