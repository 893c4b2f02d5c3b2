import { isDomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { decideStart, type CapFacts } from './caps.js';

const now = Date.parse('2026-11-23T08:00:00.000Z');
const facts: CapFacts = { policy: null, awakeMs: 0, isAdmitted: false, blockedSince: null };
const decide = (given: Partial<CapFacts>, isWake = true) => {
  try {
    return decideStart({ ...facts, ...given }, isWake, now);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { kind: error.kind, code: error.code, ...error.context };
  }
};

describe('a cap on compute minutes', () => {
  const policy = { compute_minutes_cap: 10 };
  const refused = {
    kind: 'payment_required',
    code: 'compute_cap_reached',
    resetsAt: '2026-12-01T00:00:00.000Z',
  };

  it('refuses every start once the minutes are used up, and no start before', () => {
    expect(decide({ policy, awakeMs: 599_999 })).toBe(false);
    expect(decide({ policy, awakeMs: 600_000 })).toEqual(refused);
    expect(decide({ policy, awakeMs: 600_000 }, false)).toEqual(refused);
    expect(decide({ policy: { compute_minutes_cap: 0 } }, false)).toEqual(refused);
  });

  it('is checked before the limit of wakes', () => {
    const both = { compute_minutes_cap: 0, wakes_per_hour: 0 };
    expect(decide({ policy: both })).toEqual(refused);
  });
});

describe('a limit of wakes', () => {
  const policy = { wakes_per_hour: 2 };
  const refused = (retryAfterSeconds: number) => ({
    kind: 'exhausted',
    code: 'wake_limit_reached',
    retryAfterSeconds,
  });

  it('counts a wake that fits, and counts nothing without a limit', () => {
    expect(decide({ policy })).toBe(true);
    expect(decide({ policy: {} })).toBe(false);
    expect(decide({})).toBe(false);
  });

  it('refuses a wake until the earliest that blocks it is an hour old', () => {
    expect(decide({ policy, blockedSince: now - 3_590_000 })).toEqual(refused(10));
    expect(decide({ policy, blockedSince: now - 3_599_999 })).toEqual(refused(1));
    expect(decide({ policy, blockedSince: now })).toEqual(refused(3_600));
  });

  it('of 0 refuses every wake for an hour', () => {
    expect(decide({ policy: { wakes_per_hour: 0 } })).toEqual(refused(3_600));
  });

  it('neither refuses nor counts what is no wake, and who joins one', () => {
    expect(decide({ policy, blockedSince: now }, false)).toBe(false);
    expect(decide({ policy, blockedSince: now, isAdmitted: true })).toBe(false);
  });
});
