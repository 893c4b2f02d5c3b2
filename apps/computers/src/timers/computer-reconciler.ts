import { BoxWork } from '@berth/boxes';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerLifecycle } from '../computer/computer-lifecycle.js';
import { RemovedHosts } from '../host/removed-hosts.js';
import { ComputerTimeouts } from './computer-timeouts.js';
import { DueComputersQuery, type DueComputer, type DueOptions } from './due-computers.query.js';

const TICK_MS = 1_000;
/** Work with requests to hosts: each takes up to a minute, and a host that just returned must not get all starts at once. */
const HOST_WORK = { atOnce: 200, atOnceForHost: 20 };
/** Work that only appends decisions to the log. */
const LOG_WORK = { atOnce: 100, atOnceForHost: 100 };
const SETTLE_MS = 2_000;

/**
 * Acts on computers when time has passed: continues unfinished transitions, fails overdue ones, turns warm sleep cold, puts
 * computers of suspended accounts and end users to sleep, and fails those of removed hosts. No tick waits for the work
 * of an earlier one. A second instance would do no harm, because every decision carries the epoch for which it was made.
 */
@Injectable()
@RunOnOneInstance({ name: 'timers' })
export class ComputerReconciler implements Runnable {
  readonly #logWork: BoxWork;
  readonly #hostWork: BoxWork;
  /** Not part of `#hostWork`: a start that is under way must not keep a suspension from ending it. */
  readonly #transitions: BoxWork;

  constructor(
    private readonly due: DueComputersQuery,
    private readonly timeouts: ComputerTimeouts,
    private readonly lifecycle: ComputerLifecycle,
    private readonly removed: RemovedHosts,
    log: Logger,
  ) {
    this.#logWork = new BoxWork(LOG_WORK, log);
    this.#hostWork = new BoxWork(HOST_WORK, log);
    this.#transitions = new BoxWork(HOST_WORK, log);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.tick();
        await pause(TICK_MS, signal);
      }
    } finally {
      const works = [this.#logWork, this.#hostWork, this.#transitions];
      await Promise.all(works.map((work) => work.settle(SETTLE_MS)));
    }
  }

  /** Begins the work that is due. A query that fails does not affect the others; then throws its error. */
  private async tick(): Promise<void> {
    const { due, timeouts } = this;
    const begun = await Promise.allSettled([
      begin(this.#logWork, due.overdue(options(this.#logWork, LOG_WORK.atOnce)), (id) =>
        timeouts.failOverdue(id),
      ),
      begin(this.#transitions, due.unfinished(options(this.#transitions)), async (id) => {
        await this.lifecycle.drive(id);
      }),
      begin(this.#hostWork, due.warm(options(this.#hostWork)), (id) => timeouts.cool(id)),
      // Also ends wakes that were admitted before the suspension was known here.
      begin(this.#hostWork, due.suspended(options(this.#hostWork)), (id) => timeouts.suspend(id)),
      this.giveUpRemoved(),
    ]);
    for (const one of begun) if (one.status === 'rejected') throw one.reason;
  }

  private async giveUpRemoved(): Promise<void> {
    const hosts = [...(await this.removed.lastKnown())];
    if (hosts.length === 0) return;
    await begin(
      this.#logWork,
      this.due.onRemovedHosts(hosts, options(this.#logWork, LOG_WORK.atOnce)),
      (id) => this.timeouts.failWithHost(id, 'RemoveHost'),
    );
  }
}

const options = ({ ids }: BoxWork, limit = HOST_WORK.atOnceForHost): DueOptions => ({ except: ids, limit });

const begin = async (
  work: BoxWork,
  found: Promise<readonly DueComputer[]>,
  act: (computerId: string) => Promise<void>,
): Promise<void> => {
  for (const { id, host } of await found) work.begin(id, host, () => act(id));
};
