import type { ComputerUsageReport, GetComputerUsage } from '@berth/contracts/billing';
import { Clock } from '@berth/kernel';
import { Database } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { COMPUTERS } from '../meter/computers.kind.js';
import { ComputersCountedUntil } from './counted-until.js';
import { readPage } from './usage-page.js';
import { rangeOf } from './usage-range.js';
import { computerTotalsOf, computerUsageRow } from './usage-view.js';

/** What the computers of an account used, and what that costs. */
@Injectable()
export class ComputerUsageQuery {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    private readonly counted: ComputersCountedUntil,
    private readonly clock: Clock,
  ) {}

  async byComputer(request: GetComputerUsage): Promise<ComputerUsageReport> {
    const range = rangeOf(request, this.clock.now());
    const asOf = await this.counted.now();
    const { rows, read, envelope } = await readPage(
      this.database,
      { ...request, boxId: request.computerId },
      { kind: COMPUTERS, daily: false, range, asOf },
      { toRow: computerUsageRow, keyOf: ({ computerId }) => [computerId] },
    );
    return { ...envelope, rows, totals: computerTotalsOf(read.totals) };
  }
}
