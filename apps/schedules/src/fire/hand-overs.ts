import { pause } from '@berth/supervision';
import { Clock } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { OpenFiring } from '../due-list/due-list.query.js';
import type { Firing } from '../schedule/schedule.js';
import { ScheduleStreams } from '../schedule/schedule.streams.js';
import { FireCommandHandler, type FiringOutcome } from './fire.command-handler.js';
import { HandOverAttempt } from './hand-over-attempt.js';
import { retryAfter } from './retry-plan.js';

/** Wakes agents for what has fired and hands the prompts over, until each firing has an outcome. */
@Injectable()
export class HandOvers {
  constructor(
    private readonly streams: ScheduleStreams,
    private readonly firings: FireCommandHandler,
    private readonly attempts: HandOverAttempt,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Begins to hand over; a firing without an outcome stays open when `signal` aborts. */
  session(signal: AbortSignal): HandOverSession {
    const running = new Set<string>();
    return {
      ensure: (firing, isFirst = false) => {
        if (running.has(firing.deliveryId) || signal.aborted) return;
        running.add(firing.deliveryId);
        void this.handOver(firing, isFirst, signal)
          .catch((error: unknown) =>
            this.log.warn({ deliveryId: firing.deliveryId, err: error }, 'could not end a firing yet'),
          )
          .finally(() => running.delete(firing.deliveryId));
      },
    };
  }

  private async handOver(open: OpenFiring, isFirst: boolean, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      const { state } = await this.streams.load(open.agentId);
      const firing = state.firings.find(({ deliveryId }) => deliveryId === open.deliveryId);
      // The projection shows a firing for a moment after its end.
      if (firing === undefined) return;
      const outcome = await this.tryOnce(open, firing, attempt, isFirst && attempt === 1);
      if ('ran' in outcome) return this.firings.end(open, outcome);
      await pause(outcome.retryAfterMs, signal);
    }
  }

  private async tryOnce(
    open: OpenFiring,
    firing: Firing,
    attempt: number,
    isFirst: boolean,
  ): Promise<FiringOutcome | { readonly retryAfterMs: number }> {
    try {
      return await this.attempts.run(open, firing, isFirst);
    } catch (error) {
      const { deliveryId, agentId } = open;
      this.log.info({ deliveryId, agentId, attempt, err: error }, 'a firing was not handed over');
      return retryAfter(error, { attempt, ageMs: this.clock.now() - Date.parse(firing.at) });
    }
  }
}

export interface HandOverSession {
  /** Hands the firing over unless that is in progress. `isFirst`: no earlier attempt may have handed it over. */
  ensure(firing: OpenFiring, isFirst?: boolean): void;
}
