import { divideDown, divideHalfUp, type Millionths } from '@berth/kernel';
import { FRACTIONS, recountBox, type RecountedDay } from './recount-box.js';
import type { Price, RecountedLog } from './recount-history.js';

const DAY = 86_400_000;

/** What an agent or computer used on a day, with its price in millionths of a cent. */
export interface RecountedRow extends Omit<RecountedDay, 'numerator'> {
  readonly boxId: string;
  readonly seat: boolean;
  readonly hosting: Millionths;
}

export interface RecountedAccount {
  /** By day and id. */
  readonly rows: readonly RecountedRow[];
  /** The share of days of a seat plan without an active agent; computers have no part in it. */
  readonly unallocated: Millionths;
}

/** Days in UTC, counted from 1970-01-01; `to` exclusive. */
export interface RecountedRange {
  readonly from: number;
  readonly to: number;
}

/** Counts the usage of an account once more, from the log alone. `asOf` in Unix milliseconds. */
export const recount = (
  log: RecountedLog,
  accountId: string,
  range: RecountedRange,
  asOf: number,
): RecountedAccount => {
  const prices = log.prices.get(accountId) ?? [];
  const used = log.boxes
    .filter((box) => box.accountId === accountId)
    .map((box) => ({ boxId: box.boxId, days: recountBox(box, prices, asOf) }));
  const rows: RecountedRow[] = [];
  let unallocated: Millionths = 0n;
  for (let day = range.from; day < range.to; day++) {
    const ofDay = used.flatMap(({ boxId, days }) => {
      const found = days.get(day);
      return found === undefined ? [] : [{ boxId, ...found }];
    });
    const share = shareOf(prices, day, asOf);
    const shares = share === null ? null : log.kind === 'agent' ? divide(share, ofDay) : NO_SHARES;
    if (share !== null && log.kind === 'agent' && !ofDay.some(({ activeMs }) => activeMs > 0n))
      unallocated += share;
    for (const { numerator, ...one } of ofDay.sort((a, b) => (a.boxId < b.boxId ? -1 : 1))) {
      const hosting = shares === null ? divideHalfUp(numerator, FRACTIONS) : (shares.get(one.boxId) ?? 0n);
      rows.push({ ...one, seat: shares !== null, hosting });
    }
  }
  return { rows, unallocated };
};

/** Hosting of computers costs nothing on a seat plan. */
const NO_SHARES: ReadonlyMap<string, Millionths> = new Map();

/** The price of a day of a seat plan; null if another plan is in force at its end, or the day is in the future. */
const shareOf = (prices: readonly Price[], day: number, asOf: number): Millionths | null => {
  if (day * DAY > asOf) return null;
  const price = prices.findLast(({ from }) => from < (day + 1) * DAY && from <= asOf);
  if (price === undefined || price.seatMonth === null) return null;
  const date = new Date(day * DAY);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const length = (Date.UTC(year, month + 1, 1) - Date.UTC(year, month, 1)) / DAY;
  const equal = divideDown(price.seatMonth, BigInt(length));
  const left = price.seatMonth - equal * BigInt(length);
  return left >= BigInt(date.getUTCDate()) ? equal + 1n : equal;
};

interface Active {
  readonly boxId: string;
  readonly activeMs: bigint;
}

const divide = (share: Millionths, boxes: readonly Active[]): ReadonlyMap<string, Millionths> => {
  const active = boxes
    .filter(({ activeMs }) => activeMs > 0n)
    .sort((a, b) =>
      a.activeMs === b.activeMs ? (a.boxId < b.boxId ? -1 : 1) : a.activeMs > b.activeMs ? -1 : 1,
    );
  const all = active.reduce((sum, { activeMs }) => sum + activeMs, 0n);
  const shares = new Map(
    active.map(({ boxId, activeMs }) => [boxId, divideDown(share * activeMs, all)] as const),
  );
  let left = share;
  for (const amount of shares.values()) left -= amount;
  for (const { boxId } of active) {
    if (left === 0n) break;
    shares.set(boxId, (shares.get(boxId) ?? 0n) + 1n);
    left -= 1n;
  }
  return active.length === 0 ? new Map() : shares;
};
