import { isoTime, newId } from '@berth/kernel';
import { eventually, SteppedClock } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedSchedules } from './fixtures/served-schedules.fixture.js';

const ENDED = { timeoutMs: 30_000, intervalMs: 50 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const clock = new SteppedClock();
let served: ServedSchedules;
let agentId: string;

beforeAll(async () => {
  served = await ServedSchedules.start(0);
  // One of them fires; the other one would too, if the log let it.
  await served.startAnother(clock);
  await served.startAnother(clock);
});
afterAll(() => served.stop());
beforeEach(() => {
  agentId = newId('agt');
});

const at = (fromNowMs: number): string => isoTime(clock.now() + fromNowMs);
const fired = (): readonly string[] => served.fakes.handedOver(agentId).map(({ message }) => message);
/** Every hour, first `fromNowMs` from now, so that only a step of the clock makes it due. */
const hourlyAt = (fromNowMs: number): string =>
  `${String(new Date(clock.now() + fromNowMs).getUTCMinutes())} * * * *`;
const entry = (id: string, times: object) => ({ id, prompt: id, ...times });
const listed = async (id: string) => (await served.list(agentId)).find((one) => one.id === id);
const until = (messages: readonly string[]): Promise<void> =>
  eventually(async () => {
    expect([...fired()].sort()).toEqual([...messages].sort());
    const ended = (await served.history(agentId)).filter(({ type }) => type === 'FiringEnded');
    expect(ended).toHaveLength(messages.length);
  }, ENDED);

/** Waits until the timers have looked at everything that is due at the present setting of the clock. */
const untilLookedAt = async (): Promise<void> => {
  const other = newId('agt');
  await served.push(other, entry('now', { nextRunAt: at(0) }));
  await eventually(() => expect(served.fakes.handedOver(other)).toHaveLength(1), ENDED);
};

describe('a clock that is set an hour forward while the service runs', () => {
  it('fires each entry that it skipped once, however many of its times it skipped, and no later entry', async () => {
    await served.push(
      agentId,
      entry('once', { nextRunAt: at(10 * MINUTE_MS) }),
      entry('minutely', { cron: '* * * * *' }),
      entry('hourly', { cron: hourlyAt(30 * MINUTE_MS) }),
      entry('later', { nextRunAt: at(HOUR_MS + 30 * MINUTE_MS) }),
    );
    // The minute may end by itself before the clock is set.
    clock.step(HOUR_MS);
    await eventually(() => expect(fired()).toEqual(expect.arrayContaining(['once', 'hourly'])), ENDED);
    await untilLookedAt();
    expect(fired().filter((message) => message !== 'minutely')).toHaveLength(2);
    expect(fired().filter((message) => message === 'minutely').length).toBeLessThanOrEqual(2);
    expect(fired()).toContain('minutely');
    for (const id of ['minutely', 'hourly', 'later'])
      expect(Date.parse((await listed(id))?.nextWakeAt ?? '')).toBeGreaterThan(clock.now() - 5_000);
    expect(await listed('once')).toMatchObject({ nextWakeAt: null, lastError: null });
  });
});

describe('a clock that is set an hour back while the service runs', () => {
  it('repeats nothing that has fired, and fires what comes when its time comes', async () => {
    const once = entry('once', { nextRunAt: at(0) });
    const hourly = entry('hourly', { cron: hourlyAt(30 * MINUTE_MS) });
    const soon = entry('soon', { nextRunAt: at(30 * MINUTE_MS) });
    await served.push(agentId, once, hourly, soon);
    clock.step(HOUR_MS);
    await until(['once', 'soon', 'hourly']);
    clock.step(-HOUR_MS);
    await untilLookedAt();
    // Publishing the list again, at the earlier time, makes nothing due again either.
    await served.push(agentId);
    await served.push(agentId, once, soon, entry('new', { nextRunAt: at(10 * MINUTE_MS) }));
    await untilLookedAt();
    expect(fired()).toHaveLength(3);
    expect((await listed('once'))?.nextWakeAt).toBeNull();
    expect((await listed('soon'))?.nextWakeAt).toBeNull();
    clock.step(10 * MINUTE_MS);
    await until(['once', 'soon', 'hourly', 'new']);
  });

  it('keeps the next time of a cron, which then fires once', async () => {
    await served.push(agentId, entry('hourly', { cron: hourlyAt(30 * MINUTE_MS) }));
    const before = (await listed('hourly'))?.nextWakeAt;
    clock.step(-HOUR_MS);
    await untilLookedAt();
    expect([fired(), (await listed('hourly'))?.nextWakeAt]).toEqual([[], before]);
    clock.step(2 * HOUR_MS);
    await until(['hourly']);
  });
});
