import { Clock } from '@berth/kernel';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { DueListQuery, type DueEntry } from '../due-list/due-list.query.js';
import { FireCommandHandler } from './fire.command-handler.js';
import { HandOvers, type HandOverSession } from './hand-overs.js';

const TICK_MS = 1_000;
const BATCH = 500;

/** Fires what is due, and finishes what an earlier process fired and did not hand over. */
@RunOnOneInstance({ name: 'timers' })
@Injectable()
export class FiringTimer implements Runnable {
  constructor(
    private readonly dueList: DueListQuery,
    private readonly firing: FireCommandHandler,
    private readonly handOvers: HandOvers,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const handOvers = this.handOvers.session(signal);
    while (!signal.aborted) {
      const due = await this.dueList.due(this.clock.now(), BATCH);
      const fired = await Promise.all(due.map((entry) => this.fire(entry, handOvers)));
      for (const open of await this.dueList.openFirings()) handOvers.ensure(open);
      // After a full batch there may be more that is due; the rows of those that could not be fired are still there.
      if (due.length < BATCH || !fired.includes(true)) await pause(TICK_MS, signal);
    }
  }

  /** An entry that cannot be fired now delays no other. Returns whether the entry was fired. */
  private async fire(entry: DueEntry, handOvers: HandOverSession): Promise<boolean> {
    try {
      const open = await this.firing.fire(entry);
      if (open !== null) handOvers.ensure(open, true);
      return open !== null;
    } catch (error) {
      this.log.warn({ agentId: entry.agentId, err: error }, 'could not fire a schedule yet');
      return false;
    }
  }
}
