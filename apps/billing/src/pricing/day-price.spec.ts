import { describe, expect, it } from 'vitest';
import { dayPrices, shareOfDay } from './day-price.js';
import type { Plan } from './pricing.js';
import type { Terms } from './terms.js';

const DAY_MS = 86_400_000;
const day = (date: string): number => Date.parse(date) / DAY_MS;
const seat = (pricePerMonth: bigint): Plan => ({ id: 'seat', hosting: { kind: 'seat', pricePerMonth } });
const metered: Plan = {
  id: 'default',
  hosting: { kind: 'metered', vcpuHour: 1n, memGbHour: 1n, diskGbMonth: 1n },
};
const from = (since: string, plan: Plan): Terms => ({ since: Date.parse(since), plan });

describe('the price of a month with seats', () => {
  it('is shared equally over its days, with the millionths that are left over on the first days, and adds up', () => {
    expect([28, 29, 30].map((left) => shareOfDay(310n + BigInt(left), day('2026-10-28')))).toEqual([
      11n,
      11n,
      11n,
    ]);
    for (const [month, days] of [
      ['2026-11', 30],
      ['2026-12', 31],
      ['2027-02', 28],
      ['2028-02', 29],
    ] as const)
      for (const price of [0n, 1n, 17n, 20_000_000_000n, 20_000_000_013n]) {
        const shares = Array.from({ length: days }, (_, n) => shareOfDay(price, day(`${month}-01`) + n));
        expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(price);
        expect(shares).toEqual([...shares].sort((a, b) => (a > b ? -1 : a < b ? 1 : 0)));
        expect((shares[0] ?? 0n) - (shares.at(-1) ?? 0n)).toBeLessThanOrEqual(1n);
      }
  });
});

describe('a day', () => {
  const range = { from: day('2026-11-01'), to: day('2026-11-08') };
  const shares = (terms: readonly Terms[], asOf: string) =>
    dayPrices(terms, range, Date.parse(asOf)).map((price) => [price.day - range.from, price.share]);

  it('is charged by the plan in force at its end: a change at midnight counts from the next day on', () => {
    const terms = [
      from('2026-11-02T08:00:00Z', metered),
      from('2026-11-03T23:59:59.999Z', seat(30n)),
      from('2026-11-05T00:00:00.000Z', metered),
      from('2026-11-05T12:00:00.000Z', seat(60n)),
      from('2026-11-06T12:00:00.000Z', metered),
    ];
    expect(shares(terms, '2026-12-01T00:00:00Z')).toEqual([
      [1, null],
      [2, 1n],
      [3, 1n],
      [4, 2n],
      [5, null],
      [6, null],
    ]);
  });

  it('that is not over is charged by the current plan, and future days are not charged', () => {
    const terms = [from('2026-11-02T08:00:00Z', metered), from('2026-11-03T12:00:00Z', seat(30n))];
    expect(shares(terms, '2026-11-03T11:59:59.999Z')).toEqual([
      [1, null],
      [2, null],
    ]);
    expect(shares(terms, '2026-11-03T12:00:00Z')).toEqual([
      [1, null],
      [2, 1n],
    ]);
  });

  it('before the account existed is not charged', () => {
    expect(shares([from('2026-11-06T00:00:00Z', seat(30n))], '2026-12-01T00:00:00Z')).toEqual([
      [5, 1n],
      [6, 1n],
    ]);
  });
});
