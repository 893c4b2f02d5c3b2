import { isDomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { refuseStart, type StartDecision } from './caps.js';

const now = Date.parse('2026-11-23T08:00:00.000Z');
const refusalOf = (verdict: StartDecision['verdict'], blockedSince: number | null = null) => {
  try {
    refuseStart({ verdict, blockedSince }, now);
    return null;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { kind: error.kind, code: error.code, ...error.context };
  }
};

describe('the refusal of a start', () => {
  it('by the cap on compute minutes says when the next month begins', () => {
    expect(refusalOf('compute_cap_reached')).toEqual({
      kind: 'payment_required',
      code: 'compute_cap_reached',
      resetsAt: '2026-12-01T00:00:00.000Z',
    });
  });

  it.each([
    ['', now - 3_590_000, 10],
    [', rounded up', now - 3_599_999, 1],
    [', an hour after a wake of this moment', now, 3_600],
    [', an hour if no wake is permitted', null, 3_600],
  ])('by the limit of wakes says when the next fits%s', (_, blockedSince, retryAfterSeconds) => {
    expect(refusalOf('wake_limit_reached', blockedSince)).toEqual({
      kind: 'exhausted',
      code: 'wake_limit_reached',
      retryAfterSeconds,
    });
  });

  it.each(['not_limited', 'fits'] as const)('does not exist if the decision is %s', (verdict) => {
    expect(refusalOf(verdict)).toBeNull();
  });
});
