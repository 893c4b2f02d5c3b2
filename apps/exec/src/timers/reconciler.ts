import { pause } from '@berth/supervision';
import { RunOnOneInstance } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import pMap from 'p-map';
import { ExecConfig } from '../config.js';
import { FollowedExecutions } from '../execution/followed-executions.js';
import { RunningExecutionsQuery, type RunningRow } from './running-executions.query.js';
import { Settlement } from './settlement.js';
import { Sweep } from './sweep.js';

const PAGE = 200;
const AT_ONCE = 16;
const SWEEP_EVERY_MS = 60_000;

/** Brings every accepted execution to an end, no matter which process died. One process at a time runs it. */
@RunOnOneInstance({ name: 'timers' })
@Injectable()
export class Reconciler {
  #sweptAt = 0;

  constructor(
    private readonly running: RunningExecutionsQuery,
    private readonly settlement: Settlement,
    private readonly followed: FollowedExecutions,
    private readonly sweep: Sweep,
    @Inject(ExecConfig) private readonly config: Pick<ExecConfig, 'pace'>,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.tick(signal);
      await pause(this.config.pace.tick, signal);
    }
  }

  private async tick(signal: AbortSignal): Promise<void> {
    let after = '';
    for (let rows: readonly RunningRow[]; !signal.aborted; after = rows.at(-1)?.executionId ?? after) {
      rows = await this.running.page(after, this.config.pace.olderThan, PAGE);
      await this.settleAll(rows.filter((row) => this.needsSettlement(row)));
      if (rows.length < PAGE) break;
    }
    if (Date.now() - this.#sweptAt < SWEEP_EVERY_MS) return;
    await this.sweep.run(signal);
    this.#sweptAt = Date.now();
  }

  /** An execution that this process follows needs the reconciler only if its agent ended or it is to be cancelled. */
  private needsSettlement({ executionId, agentEnded, cancelRequested }: RunningRow): boolean {
    return agentEnded || cancelRequested || !this.followed.has(executionId);
  }

  /** A failure of one execution does not affect the others. */
  async settleAll(rows: readonly RunningRow[]): Promise<void> {
    const settle = (row: RunningRow): Promise<void> =>
      this.settlement
        .settle(row)
        .catch((error: unknown) =>
          this.log.warn({ err: error, executionId: row.executionId }, 'could not settle an execution'),
        );
    await pMap(rows, settle, { concurrency: AT_ONCE });
  }
}
