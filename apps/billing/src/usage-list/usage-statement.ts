import { decodeCursor } from '@berth/persistence';
import type { MeteredKind } from '../meter/metered-kind.js';
import { DAY_MS, dayOf } from '../meter/utc-day.js';
import type { DayPrice } from '../pricing/day-price.js';
import { periodsOf, weightsOf, type Terms, type TermsPeriod } from '../pricing/terms.js';
import type { DayRange } from './usage-range.js';
import { usageSql, type Binder } from './usage-sql.js';

/** A request for the usage of boxes of one kind. */
export interface BoxUsage {
  readonly accountId: string;
  readonly externalUserId: string | null;
  readonly boxId: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** What the rows are: of boxes of one kind, or of each of their days. */
export interface UsageScope {
  readonly kind: MeteredKind;
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
export const statementFor = (request: BoxUsage, scope: UsageScope): Statement => {
  const { kind, range, asOf, prices, daily } = scope;
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
    boxId: () => add(request.boxId, 'text'),
    externalUserId: () => add(request.externalUserId, 'text'),
    cursorDay: () => add(cursor?.day, 'bigint'),
    cursorBox: () => add(cursor?.boxId, 'text'),
    periods: () => periodsItem(periods, add),
  };
  const shape = {
    kind,
    daily,
    hasSeatDays: prices.some(({ share }) => share !== null),
    hasRates: periods.length > 0,
    byBox: request.boxId !== null,
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
  readonly boxId: string;
}

const cursorOf = (cursor: string, daily: boolean): End => {
  const end = decodeCursor<readonly string[]>(cursor, daily ? isDailyEnd : isEnd);
  const [date = '', boxId = ''] = daily ? end : ['1970-01-01', ...end];
  return { day: dayOf(Date.parse(date)), boxId };
};

const isTexts = (value: unknown, length: number): value is readonly string[] =>
  Array.isArray(value) && value.length === length && value.every((one) => typeof one === 'string');

const isEnd = (value: unknown): boolean => isTexts(value, 1);

const isDailyEnd = (value: unknown): boolean =>
  isTexts(value, 2) && /^\d{4}-\d\d-\d\d$/.test(value[0] ?? '') && !Number.isNaN(Date.parse(value[0] ?? ''));
