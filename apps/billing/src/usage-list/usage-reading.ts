import type { Database, SqlRunner } from '@berth/persistence';
import { termsOfAccount } from '../pricing/account-terms.js';
import { dayPrices, type DayPrice } from '../pricing/day-price.js';
import { statementFor, type BoxUsage, type UsageScope } from './usage-statement.js';
import type { BoxRow, TotalsRow } from './usage-view.js';

/** A range of 400 days of thousands of agents takes seconds. */
const STATEMENT_TIMEOUT_MS = 20_000;

export interface ReadUsage<Row extends BoxRow> {
  readonly rows: readonly Row[];
  readonly totals: TotalsRow;
  readonly prices: readonly DayPrice[];
}

/** Usage in progress is counted up to `asOf`. */
export type UsageMoment = Pick<UsageScope, 'kind' | 'daily' | 'range' | 'asOf'>;

/** Runs `read` on one snapshot of the tables. */
export const inSnapshot = <T>(
  database: Pick<Database, 'transaction'>,
  read: (tx: SqlRunner) => Promise<T>,
): Promise<T> =>
  database.transaction(
    async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return read(tx);
    },
    { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );

/** One more row than `request.limit`, if there is one. Errors: invalid `invalid_request` for a malformed cursor. */
export const readUsage = async <Row extends BoxRow>(
  tx: SqlRunner,
  request: BoxUsage,
  moment: UsageMoment,
): Promise<ReadUsage<Row>> => {
  const terms = await termsOfAccount(moment.kind, tx, request.accountId);
  const prices = dayPrices(terms, moment.range, moment.asOf);
  const { sql, values } = statementFor(request, { ...moment, terms, prices });
  const [totals, ...rows] = await tx.query<Row & TotalsRow>(sql, values);
  if (totals === undefined) throw new Error('The statement returned no totals.');
  return { rows, totals, prices };
};

/** The price of days of a seat plan that no active agent took, in millionths of a cent. */
export const unallocatedIn = ({ prices, totals }: Pick<ReadUsage<BoxRow>, 'prices' | 'totals'>): bigint =>
  prices.reduce((sum, { share }) => sum + (share ?? 0n), 0n) - BigInt(totals.all_shared);
