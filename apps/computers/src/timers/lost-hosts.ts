import { BoxWork, HostHearing, HostSilence } from '@berth/boxes';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerHostDirectory } from '../host/computer-host-directory.js';
import { ComputerTimeouts } from './computer-timeouts.js';
import { DueComputersQuery } from './due-computers.query.js';

const TICK_MS = 1_000;
const AT_ONCE = 100;
const SETTLE_MS = 2_000;

/**
 * Fails the computers of lost hosts. A silence of the broker, the log or the tables is none of the hosts: only a process
 * that hears all of them judges.
 */
@Injectable()
@RunOnOneInstance({ name: 'lost-hosts' })
export class LostHosts implements Runnable {
  readonly #silence = new HostSilence();
  readonly #work: BoxWork;

  constructor(
    private readonly hearing: HostHearing,
    private readonly hosts: ComputerHostDirectory,
    private readonly due: DueComputersQuery,
    private readonly timeouts: ComputerTimeouts,
    log: Logger,
  ) {
    this.#work = new BoxWork({ atOnce: AT_ONCE, atOnceForHost: AT_ONCE }, log);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.judge();
        await pause(TICK_MS, signal);
      }
    } finally {
      await this.#work.settle(SETTLE_MS);
    }
  }

  private async judge(): Promise<void> {
    if (!(await this.hearing.isProven())) return;
    const lost = this.#silence.observe(await this.hosts.seen());
    if (lost.length === 0) return;
    const options = { except: this.#work.ids, limit: AT_ONCE };
    for (const { id, host } of await this.due.onHosts(lost, options))
      this.#work.begin(id, host, () => this.timeouts.failWithHost(id, 'LoseHost'));
  }
}
