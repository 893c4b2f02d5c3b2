import type { DailyUsageRow, GetUsage, UsageReport, UsageRow } from '@berth/contracts/billing';
import { Clock, showCents } from '@berth/kernel';
import { Database } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AGENTS } from '../meter/agents.kind.js';
import { CountedUntil } from './counted-until.js';
import { readPage, type PageShape } from './usage-page.js';
import { rangeOf } from './usage-range.js';
import { unallocatedIn } from './usage-reading.js';
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
    return this.report(request, false, { toRow: usageRow, keyOf: ({ agentId }) => [agentId] });
  }

  byDay(request: GetUsage): Promise<UsageReport<DailyUsageRow>> {
    return this.report(request, true, {
      toRow: dailyUsageRow,
      keyOf: ({ date, agentId }) => [date, agentId],
    });
  }

  private async report<Row extends UsageRow>(
    request: GetUsage,
    daily: boolean,
    shape: PageShape<PageRow, Row>,
  ): Promise<UsageReport<Row>> {
    const range = rangeOf(request, this.clock.now());
    const asOf = await this.counted.now();
    const { rows, read, envelope } = await readPage(
      this.database,
      { ...request, boxId: request.agentId },
      { kind: AGENTS, daily, range, asOf },
      shape,
    );
    // A filter asks about agents, which have no part in days without an active one.
    const isFiltered = request.agentId !== null || request.externalUserId !== null;
    const unallocatedCents = showCents(isFiltered ? 0n : unallocatedIn(read));
    return { ...envelope, rows, totals: { ...totalsOf(read.totals), unallocatedCents } };
  }
}
