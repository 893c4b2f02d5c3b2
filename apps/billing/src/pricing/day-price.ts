import { DAY_MS, dayOf } from '../meter/utc-day.js';
import type { DayRange } from '../usage-list/usage-range.js';
import type { Terms } from './terms.js';

/** The charge for hosting on one day. */
export interface DayPrice {
  readonly day: number;
  /** The price of the day in millionths of a cent that its active agents share; null if hosting is metered. */
  readonly share: bigint | null;
}

/**
 * The prices of the days of an account, by the plan in force at the end of each; that of today at `asOf`. Days before the
 * account existed and future days are left out. `terms` in order of time.
 */
export const dayPrices = (
  terms: readonly Terms[],
  { from, to }: DayRange,
  asOf: number,
): readonly DayPrice[] => {
  const prices: DayPrice[] = [];
  const first = terms[0]?.since ?? Infinity;
  for (let day = Math.max(from, dayOf(Math.min(first, asOf))); day < Math.min(to, dayOf(asOf) + 1); day++) {
    const end = Math.min((day + 1) * DAY_MS - 1, asOf);
    const hosting = terms.findLast(({ since }) => since <= end)?.plan.hosting;
    if (hosting !== undefined)
      prices.push({ day, share: hosting.kind === 'seat' ? shareOfDay(hosting.pricePerMonth, day) : null });
  }
  return prices;
};

/** An equal share of the month's price; millionths that are left over go to the first days of the month. */
export const shareOfDay = (monthPrice: bigint, day: number): bigint => {
  const date = new Date(day * DAY_MS);
  const days = BigInt(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate());
  const isFirst = BigInt(date.getUTCDate()) <= monthPrice % days;
  return monthPrice / days + (isFirst ? 1n : 0n);
};
