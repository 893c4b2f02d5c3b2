import { describe, expect, it } from 'vitest';
import { DeathCount } from './death-count.js';

const policy = { maxDeaths: 5, windowMs: 60_000, maxEarlyDeaths: 3 };

describe('a program that crashes', () => {
  it('is restarted with growing delays, and abandoned at the fifth crash within a minute', () => {
    const deaths = new DeathCount(policy);
    deaths.served();
    const after = [0, 1_000, 2_000, 3_000, 4_000].map((at) => deaths.died(at));
    expect(after).toEqual([
      { giveUp: false, backoffMs: 100 },
      { giveUp: false, backoffMs: 200 },
      { giveUp: false, backoffMs: 400 },
      { giveUp: false, backoffMs: 800 },
      { giveUp: true },
    ]);
  });

  it('is not abandoned because of old crashes', () => {
    const deaths = new DeathCount(policy);
    deaths.served();
    for (let at = 0; at < 1_000_000; at += 20_000) expect(deaths.died(at).giveUp).toBe(false);
  });

  it('that never became ready is abandoned at the third crash', () => {
    const deaths = new DeathCount(policy);
    expect([0, 1, 2].map((at) => deaths.died(at).giveUp)).toEqual([false, false, true]);
  });
});
