import type { DailyUsageRow, GetUsage, UsageReport, UsageRow } from '@berth/contracts/billing';
import { Clock, isoTime, showCents } from '@berth/kernel';
import { Database, encodeCursor } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { DAY_MS } from '../meter/utc-day.js';
import { CountedUntil } from './counted-until.js';
import { fittingRows } from './fitting-rows.js';
import { rangeOf, type DayRange } from './usage-range.js';
import { inSnapshot, readUsage, unallocatedIn } from './usage-reading.js';
import { dailyUsageRow, totalsOf, usageRow, type PageRow } from './usage-view.js';

/** What the agents of an account used, and what that costs. */
@Injectable()
export class UsageQuery {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    private readonly counted: CountedUntil,
    private readonly clock: Clock,
  ) {}

  byAgent(request: GetUsage): Promise<UsageReport> {
    return this.report(request, false, usageRow, ({ agentId }) => [agentId]);
  }

  byDay(request: GetUsage): Promise<UsageReport<DailyUsageRow>> {
    return this.report(request, true, dailyUsageRow, ({ date, agentId }) => [date, agentId]);
  }

  private async report<Row extends UsageRow>(
    request: GetUsage,
    daily: boolean,
    toRow: (row: PageRow) => Row,
    keyOf: (row: Row) => readonly string[],
  ): Promise<UsageReport<Row>> {
    const range = rangeOf(request, this.clock.now());
    const asOf = await this.counted.now();
    const read = await inSnapshot(this.database, (tx) => readUsage(tx, request, { daily, range, asOf }));
    const rows = fittingRows(read.rows.slice(0, request.limit).map(toRow));
    const last = rows.at(-1);
    const isLast = read.rows.length === rows.length || last === undefined;
    // A filter asks about agents, which have no part in days without an active one.
    const isFiltered = request.agentId !== null || request.externalUserId !== null;
    return {
      ...envelopeOf(range),
      rows,
      totals: {
        ...totalsOf(read.totals),
        unallocatedCents: showCents(isFiltered ? 0n : unallocatedIn(read)),
      },
      nextCursor: isLast ? null : encodeCursor([...keyOf(last)]),
      asOf: isoTime(asOf),
    };
  }
}

const envelopeOf = ({ from, to }: DayRange): Pick<UsageReport, 'from' | 'to' | 'currency'> => ({
  from: isoTime(from * DAY_MS),
  to: isoTime(to * DAY_MS),
  currency: 'USD',
});
