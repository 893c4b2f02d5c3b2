import { describe, expect, it, vi } from 'vitest';
import { CountedUntil } from './counted-until.js';

describe('the moment until which usage is counted', () => {
  const counting = () => {
    const clock = { now: () => time };
    let time = Date.parse('2026-11-23T08:00:00Z');
    let counts = 0;
    const usage = {
      untilCaughtUp: () => {
        counts++;
        return Promise.resolve();
      },
    };
    return {
      counted: new CountedUntil(usage, clock),
      pass: (ms: number) => (time += ms),
      counts: () => counts,
    };
  };

  it('is the same for the queries of two seconds, which ask the log once', async () => {
    const { counted, pass, counts } = counting();
    const first = await counted.now();
    pass(1_999);
    expect([await counted.now(), counts()]).toEqual([first, 1]);
    const now = pass(1);
    expect([await counted.now(), counts()]).toEqual([now, 2]);
  });

  it('is waited for as long as the caller says, and is no moment of earlier queries', async () => {
    const { counted, pass } = counting();
    await counted.now();
    const now = pass(1);
    expect(await counted.patiently(60_000)).toBe(now);
    const lagging = {
      untilCaughtUp: (signal: AbortSignal) =>
        new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('late')))),
    };
    const within = vi.spyOn(AbortSignal, 'timeout');
    const late = new CountedUntil(lagging, { now: () => now }).patiently(20);
    await expect(late).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(within.mock.calls).toEqual([[20]]);
    within.mockRestore();
  });

  it('is now again once the clock was set back', async () => {
    const { counted, pass, counts } = counting();
    await counted.now();
    const now = pass(-3_600_000);
    expect([await counted.now(), counts()]).toEqual([now, 2]);
  });
});
