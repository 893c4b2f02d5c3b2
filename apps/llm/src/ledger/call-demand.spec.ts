import { describe, expect, it } from 'vitest';
import { demandOf } from '../fixtures/calls.fixture.js';
import { allow } from './call-demand.js';

// Costs 10 + 20 millionths at most.
const demand = demandOf(10, 10);
const shrinking = { ...demand, mayShrink: true };

describe('a call', () => {
  it('gets all it asks for if that fits into what is left, to the last millionth', () => {
    expect(allow(demand, 30n)).toEqual({ outputTokens: 10, amount: 30n });
    expect(allow(shrinking, 30n)).toEqual({ outputTokens: 10, amount: 30n });
    expect(allow(demand, null)).toEqual({ outputTokens: 10, amount: 30n });
  });

  it('with a limit of its caller gets that or nothing', () => {
    expect(allow(demand, 29n)).toBeUndefined();
  });

  it('without one gets as much output as fits, but at least a token', () => {
    expect(allow(shrinking, 29n)).toEqual({ outputTokens: 9, amount: 28n });
    expect(allow(shrinking, 12n)).toEqual({ outputTokens: 1, amount: 12n });
    expect(allow(shrinking, 11n)).toBeUndefined();
    expect(allow(shrinking, 0n)).toBeUndefined();
    expect(allow(shrinking, -5n)).toBeUndefined();
  });
});
