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
    // What has fired and is still shown as due, because the projection lags; it must not hide what else is due.
    let shown = new Set<string>();
    while (!signal.aborted) {
      const due = await this.dueList.due(this.clock.now(), BATCH + shown.size);
      const fresh = due.filter((entry) => !shown.has(keyOf(entry)));
      const fired = await Promise.all(byAgent(fresh).map((entries) => this.fire(entries, handOvers)));
      for (const open of await this.dueList.openFirings()) handOvers.ensure(open);
      const isDone = new Set(fired.flat());
      shown = new Set(due.map(keyOf).filter((key) => shown.has(key) || isDone.has(key)));
      // After a full batch there may be more that is due.
      if (fresh.length < BATCH || isDone.size === 0) await pause(TICK_MS, signal);
    }
  }

  /** An agent whose entries cannot be fired now delays no other. Returns the keys of entries that need not be looked at again. */
  private async fire(
    entries: readonly [DueEntry, ...DueEntry[]],
    handOvers: HandOverSession,
  ): Promise<readonly string[]> {
    try {
      for (const open of await this.firing.fire(entries)) handOvers.ensure(open, true);
      return entries.map(keyOf);
    } catch (error) {
      this.log.warn({ agentId: entries[0].agentId, err: error }, 'could not fire schedules yet');
      return [];
    }
  }
}

const byAgent = (due: readonly DueEntry[]): readonly (readonly [DueEntry, ...DueEntry[]])[] => {
  const groups = new Map<string, [DueEntry, ...DueEntry[]]>();
  for (const entry of due) {
    const group = groups.get(entry.agentId);
    if (group === undefined) groups.set(entry.agentId, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
};

const keyOf = ({ agentId, entryId, dueAt }: DueEntry): string => JSON.stringify([agentId, entryId, dueAt]);
