import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { policy } from './policy.js';

/** The bounds of each member, repeated on purpose, and the step to the next value. */
const BOUNDS = [
  ['llm_spend_cap_cents_per_month', 0, 100_000_000, 1],
  ['compute_minutes_cap', 0, 1_000_000, 1],
  ['wakes_per_hour', 0, 3_600, 1],
  ['idle_sleep_seconds', 15, 604_800, 1],
  ['mem_mb', 128, 65_536, 1],
  ['vcpus', 0.1, 32, 0.01],
  ['disk_gb', 1, 1_024, 1],
] as const;

const isPolicy = (value: unknown): boolean => Value.Check(policy, value);

describe('a policy', () => {
  it.each(BOUNDS)('has a member %s from %d to %d', (member, least, most, step) => {
    for (const value of [least, most]) expect([value, isPolicy({ [member]: value })]).toEqual([value, true]);
    for (const value of [least - step, most + step, '5', null, true])
      expect([value, isPolicy({ [member]: value })]).toEqual([value, false]);
  });

  it('has whole numbers, but for vcpus', () => {
    for (const [member, least] of BOUNDS)
      expect([member, isPolicy({ [member]: least + 0.5 })]).toEqual([member, member === 'vcpus']);
  });

  it('may turn idle sleep off, and have no member at all', () => {
    expect(isPolicy({ idle_sleep_seconds: 0 })).toBe(true);
    expect(isPolicy({})).toBe(true);
  });
});
