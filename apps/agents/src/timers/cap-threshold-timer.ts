import { Clock, isoTime } from '@berth/kernel';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { systemOrigin } from '../agent/agent.command-handler.js';
import { reachedBy, type RecordedThreshold } from '../thresholds/cap-thresholds.js';
import { CapThresholdsStreams } from '../thresholds/cap-thresholds.streams.js';
import { CapUseQuery, type CapUse } from '../thresholds/cap-use.query.js';
import { monthOf } from '../use/agent-use.js';

const TICK_MS = 2_000;
/** Every so many ticks it looks at everybody: a cap may be lowered, or an agent run for less than a tick. */
const TICKS_UNTIL_ALL = 10;

/**
 * Records the thresholds of compute caps that end users reach. A second instance would do no harm: the log accepts each
 * threshold once in a period.
 */
@Injectable()
@RunOnOneInstance({ name: 'cap-thresholds' })
export class CapThresholdTimer implements Runnable {
  constructor(
    private readonly uses: CapUseQuery,
    private readonly streams: CapThresholdsStreams,
    private readonly clock: Clock,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    // Spares a read of the log for each end user and tick; empty at the beginning of a run.
    const recorded = new Map<string, RecordedThreshold>();
    let month = '';
    for (let tick = 0; !signal.aborted; tick++) {
      const now = this.clock.now();
      const period = monthOf(now).month;
      if (period !== month) recorded.clear();
      month = period;
      for (const use of await this.uses.above(now, tick % TICKS_UNTIL_ALL === 0 ? 'all' : 'running')) {
        const reached = reachedBy(use.percent);
        if ((recorded.get(use.endUserId) ?? 0) >= reached) continue;
        await this.record(use, period, now);
        recorded.set(use.endUserId, reached);
      }
      await pause(TICK_MS, signal);
    }
  }

  private async record(
    { accountId, endUserId, percent }: CapUse,
    period: string,
    now: number,
  ): Promise<void> {
    const id = `${endUserId}-${period}`;
    await this.streams.handle(
      id,
      { endUserId, cap: 'compute_minutes_cap', period, percent, at: isoTime(now) },
      systemOrigin(accountId, `computeCap/${id}/${String(reachedBy(percent))}`),
      { expectNew: reachedBy(percent) === 50 },
    );
  }
}
