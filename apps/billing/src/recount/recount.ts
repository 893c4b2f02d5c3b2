import { divideDown, divideHalfUp, type Millionths } from '@berth/kernel';
import { FRACTIONS, recountAgent, type RecountedDay } from './recount-agent.js';
import type { Price, RecountedLog } from './recount-history.js';

const DAY = 86_400_000;

/** What an agent used on a day, with its price in millionths of a cent. */
export interface RecountedRow extends Omit<RecountedDay, 'numerator'> {
  readonly agentId: string;
  readonly seat: boolean;
  readonly hosting: Millionths;
}

export interface RecountedAccount {
  /** By day and agent id. */
  readonly rows: readonly RecountedRow[];
  /** The share of days of a seat plan without an active agent. */
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
  const used = log.agents
    .filter((agent) => agent.accountId === accountId)
    .map((agent) => ({ agentId: agent.agentId, days: recountAgent(agent, prices, asOf) }));
  const rows: RecountedRow[] = [];
  let unallocated: Millionths = 0n;
  for (let day = range.from; day < range.to; day++) {
    const ofDay = used.flatMap(({ agentId, days }) => {
      const found = days.get(day);
      return found === undefined ? [] : [{ agentId, ...found }];
    });
    const share = shareOf(prices, day, asOf);
    const shares = share === null ? null : divide(share, ofDay);
    if (share !== null && !ofDay.some(({ activeMs }) => activeMs > 0n)) unallocated += share;
    for (const { numerator, ...one } of ofDay.sort((a, b) => (a.agentId < b.agentId ? -1 : 1))) {
      const hosting = shares === null ? divideHalfUp(numerator, FRACTIONS) : (shares.get(one.agentId) ?? 0n);
      rows.push({ ...one, seat: shares !== null, hosting });
    }
  }
  return { rows, unallocated };
};

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
  readonly agentId: string;
  readonly activeMs: bigint;
}

const divide = (share: Millionths, agents: readonly Active[]): ReadonlyMap<string, Millionths> => {
  const active = agents
    .filter(({ activeMs }) => activeMs > 0n)
    .sort((a, b) =>
      a.activeMs === b.activeMs ? (a.agentId < b.agentId ? -1 : 1) : a.activeMs > b.activeMs ? -1 : 1,
    );
  const all = active.reduce((sum, { activeMs }) => sum + activeMs, 0n);
  const shares = new Map(
    active.map(({ agentId, activeMs }) => [agentId, divideDown(share * activeMs, all)] as const),
  );
  let left = share;
  for (const amount of shares.values()) left -= amount;
  for (const { agentId } of active) {
    if (left === 0n) break;
    shares.set(agentId, (shares.get(agentId) ?? 0n) + 1n);
    left -= 1n;
  }
  return active.length === 0 ? new Map() : shares;
};
