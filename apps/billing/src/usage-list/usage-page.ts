import type { UsageReport } from '@berth/contracts/billing';
import { isoTime } from '@berth/kernel';
import { encodeCursor, type Database } from '@berth/persistence';
import { DAY_MS } from '../meter/utc-day.js';
import { fittingRows } from './fitting-rows.js';
import { inSnapshot, readUsage, type ReadUsage, type UsageMoment } from './usage-reading.js';
import type { BoxUsage } from './usage-statement.js';
import type { BoxRow } from './usage-view.js';

/** What every report of usage says beside its rows and totals. */
type Envelope = Pick<UsageReport, 'from' | 'to' | 'currency' | 'nextCursor' | 'asOf'>;

export interface UsagePage<Row> {
  readonly envelope: Envelope;
  readonly rows: readonly Row[];
  readonly read: Pick<ReadUsage<BoxRow>, 'totals' | 'prices'>;
}

/** `keyOf`: what the rows are ordered by. */
export interface PageShape<Read, Row> {
  readonly toRow: (read: Read) => Row;
  readonly keyOf: (row: Row) => readonly string[];
}

/** The rows of one page, with the totals of the whole range. Errors: invalid `invalid_request` for a malformed cursor. */
export const readPage = async <Read extends BoxRow, Row extends object>(
  database: Pick<Database, 'transaction'>,
  request: BoxUsage,
  moment: UsageMoment,
  { toRow, keyOf }: PageShape<Read, Row>,
): Promise<UsagePage<Row>> => {
  const read = await inSnapshot(database, (tx) => readUsage<Read>(tx, request, moment));
  const rows = fittingRows(read.rows.slice(0, request.limit).map(toRow));
  const last = rows.at(-1);
  const isLast = read.rows.length === rows.length || last === undefined;
  const { range, asOf } = moment;
  return {
    rows,
    read,
    envelope: {
      from: isoTime(range.from * DAY_MS),
      to: isoTime(range.to * DAY_MS),
      currency: 'USD',
      nextCursor: isLast ? null : encodeCursor([...keyOf(last)]),
      asOf: isoTime(asOf),
    },
  };
};
