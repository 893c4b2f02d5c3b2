import type { Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import { BoxWork } from './box-work.js';
import type { HostHearing } from './host-hearing.js';
import { HostSilence, type SeenHost } from './host-silence.js';

const TICK_MS = 1_000;
const AT_ONCE = 100;
const SETTLE_MS = 2_000;

/** The hosts that a service has heard of, and its boxes on them. */
export interface BoxesOnHosts {
  seen(): Promise<readonly SeenHost[]>;
  /** Boxes of these hosts that have not failed; `except` those with running work. */
  onHosts(
    hosts: readonly string[],
    options: { readonly except: readonly string[]; readonly limit: number },
  ): Promise<readonly { readonly id: string; readonly host: string | null }[]>;
  /** Fails a box whose host is lost. */
  lose(boxId: string): Promise<void>;
}

/**
 * Fails the boxes of lost hosts. A silence of the broker, the log or the tables is none of the hosts: only a process that
 * hears all of them judges. Apart from the other timers, which a slow query delays.
 */
export abstract class LostHostsTimer implements Runnable {
  readonly #silence = new HostSilence();
  readonly #work: BoxWork;

  protected constructor(
    private readonly hearing: HostHearing,
    private readonly boxes: BoxesOnHosts,
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

  /** Begins to fail the boxes of the hosts that are lost now. */
  async judge(): Promise<void> {
    if (!(await this.hearing.isProven())) return;
    const lost = this.#silence.observe(await this.boxes.seen());
    if (lost.length === 0) return;
    const options = { except: this.#work.ids, limit: AT_ONCE };
    for (const { id, host } of await this.boxes.onHosts(lost, options))
      this.#work.begin(id, host, () => this.boxes.lose(id));
  }
}
