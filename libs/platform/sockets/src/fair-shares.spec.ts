import { describe, expect, it } from 'vitest';
import { FairShares } from './fair-shares.js';

/** Takes places until one is refused; returns how many it got. */
const takeAll = (shares: FairShares, holder: string): number => {
  let taken = 0;
  while (shares.take(holder) !== undefined) taken++;
  return taken;
};

describe('fair shares', () => {
  it('give one greedy holder half of the places', () => {
    expect(takeAll(new FairShares(100), 'greedy')).toBe(50);
  });

  it('give each further greedy holder half of the rest', () => {
    const shares = new FairShares(100);
    expect([1, 2, 3, 4].map((greedy) => takeAll(shares, String(greedy)))).toEqual([50, 25, 13, 6]);
  });

  it('give a holder the places again that it has freed, each once', () => {
    const shares = new FairShares(2);
    const free = shares.take('one');
    expect(shares.take('one')).toBeUndefined();
    free?.();
    free?.();
    expect(shares.take('one')).toBeTypeOf('function');
    expect(shares.take('one')).toBeUndefined();
  });

  it('give the only place to whoever comes first', () => {
    const shares = new FairShares(1);
    expect(shares.take('one')).toBeTypeOf('function');
    expect(shares.take('other')).toBeUndefined();
  });
});
