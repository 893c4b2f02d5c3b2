import type { GetUsage } from '@berth/contracts/billing';
import { decodeCursor } from '@berth/persistence';
import { DAY_MS, dayOf } from '../meter/utc-day.js';
import type { DayPrice } from '../pricing/day-price.js';
import { periodsOf, weightsOf, type Terms, type TermsPeriod } from '../pricing/terms.js';
import type { DayRange } from './usage-range.js';
import { usageSql, type Binder } from './usage-sql.js';

/** The kind of the rows: by agent, or by agent and day. */
export interface UsageScope {
  readonly daily: boolean;
  readonly range: DayRange;
  /** Unix milliseconds. */
  readonly asOf: number;
  readonly terms: readonly Terms[];
  readonly prices: readonly DayPrice[];
}

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Errors: invalid `invalid_request` for a malformed cursor. */
export const statementFor = (request: GetUsage, scope: UsageScope): Statement => {
  const { range, asOf, prices, daily } = scope;
  const periods = pricedPeriods(scope);
  const cursor = request.cursor === null ? null : cursorOf(request.cursor, daily);
  const values: unknown[] = [
    request.accountId,
    range.from,
    range.to,
    asOf,
    prices.map(({ day }) => day),
    prices.map(({ share }) => share?.toString() ?? null),
    request.limit + 1,
  ];
  const add = (value: unknown, type: string): string => `$${String(values.push(value))}::${type}`;
  const bind: Binder = {
    agentId: () => add(request.agentId, 'text'),
    externalUserId: () => add(request.externalUserId, 'text'),
    cursorDay: () => add(cursor?.day, 'bigint'),
    cursorAgent: () => add(cursor?.agentId, 'text'),
    periods: () => periodsItem(periods, add),
  };
  const shape = {
    daily,
    hasSeatDays: prices.some(({ share }) => share !== null),
    hasRates: periods.length > 0,
    byAgent: request.agentId !== null,
    byEndUser: request.externalUserId !== null,
    hasCursor: cursor !== null,
  };
  return { sql: usageSql(shape, bind), values };
};

/** The periods of the range in which metered hosting costs something. */
const pricedPeriods = ({ terms, range, asOf }: UsageScope): readonly TermsPeriod[] =>
  periodsOf(terms).filter(({ plan, from, to }) => {
    const { vcpu, mem, disk } = weightsOf(plan);
    return vcpu + mem + disk > 0n && to > range.from * DAY_MS && from < Math.min(range.to * DAY_MS, asOf);
  });

const periodsItem = (
  periods: readonly TermsPeriod[],
  add: (value: unknown, type: string) => string,
): string => {
  const weights = periods.map(({ plan }) => weightsOf(plan));
  const columns = [
    add(
      periods.map(({ from }) => from),
      'bigint[]',
    ),
    add(
      periods.map(({ to }) => Math.min(to, Number.MAX_SAFE_INTEGER)),
      'bigint[]',
    ),
    ...(['vcpu', 'mem', 'disk'] as const).map((part) =>
      add(
        weights.map((one) => one[part].toString()),
        'numeric[]',
      ),
    ),
  ];
  return `unnest(${columns.join(', ')}) AS p (since, until, vcpu, mem, disk)`;
};

/** The last row of a page. */
interface End {
  readonly day: number;
  readonly agentId: string;
}

const cursorOf = (cursor: string, daily: boolean): End => {
  const end = decodeCursor<readonly string[]>(cursor, daily ? isDailyEnd : isEnd);
  const [date = '', agentId = ''] = daily ? end : ['1970-01-01', ...end];
  return { day: dayOf(Date.parse(date)), agentId };
};

const isTexts = (value: unknown, length: number): value is readonly string[] =>
  Array.isArray(value) && value.length === length && value.every((one) => typeof one === 'string');

const isEnd = (value: unknown): boolean => isTexts(value, 1);

const isDailyEnd = (value: unknown): boolean =>
  isTexts(value, 2) && /^\d{4}-\d\d-\d\d$/.test(value[0] ?? '') && !Number.isNaN(Date.parse(value[0] ?? ''));
