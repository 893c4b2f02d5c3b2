import { pause } from '@berth/supervision';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import { CreationAttempts } from '../agent/creation-attempts.js';
import { AgentTimeouts } from './agent-timeouts.js';
import { BoxWork } from '@berth/boxes';
import { DueAgentsQuery, type DueOptions } from './due-agents.query.js';

const TICK_MS = 1_000;
/** Work with requests to hosts: each takes up to a minute, and a host that just returned must not get 1,000 starts at once. */
const HOST_WORK = { atOnce: 200, atOnceForHost: 20 };
/** Work that only appends decisions to the log. */
const LOG_WORK = { atOnce: 100, atOnceForHost: 100 };
const SETTLE_MS = 2_000;

/**
 * Acts on agents when time has passed. On every tick it derives the work from their state: it continues unfinished
 * transitions, fails overdue ones, turns warm sleep cold, puts agents of suspended accounts and of end users over their
 * cap to sleep, fails agents of a removed host, and abandons creations whose process died. No tick waits for the work of
 * an earlier one. A second instance would do no harm, because every decision carries the epoch for which it was made.
 */
@Injectable()
@RunOnOneInstance({ name: 'timers' })
export class AgentReconciler implements Runnable {
  readonly #logWork: BoxWork;
  readonly #hostWork: BoxWork;
  /** Not part of `#hostWork`: a start that is under way must not keep a suspension from ending it. */
  readonly #transitions: BoxWork;

  constructor(
    private readonly due: DueAgentsQuery,
    private readonly timeouts: AgentTimeouts,
    private readonly lifecycle: AgentLifecycle,
    private readonly attempts: CreationAttempts,
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
    const begun = await Promise.allSettled([
      this.failOverdue(),
      this.continueUnfinished(),
      this.cool(),
      this.suspend(),
      this.endOverCap(),
      this.giveUpAgents(),
      this.settleCreations(),
    ]);
    for (const one of begun) if (one.status === 'rejected') throw one.reason;
  }

  private async failOverdue(): Promise<void> {
    for (const { id, host } of await this.due.overdue(this.forLogWork()))
      this.#logWork.begin(id, host, () => this.timeouts.failOverdue(id));
  }

  private async continueUnfinished(): Promise<void> {
    for (const { id, host } of await this.due.unfinished(forHost(this.#transitions)))
      this.#transitions.begin(id, host, async () => {
        await this.lifecycle.drive(id);
      });
  }

  private async cool(): Promise<void> {
    for (const { id, host } of await this.due.warm(forHost(this.#hostWork)))
      this.#hostWork.begin(id, host, () => this.timeouts.cool(id));
  }

  /** Also ends wakes that were admitted before the suspension was known here. */
  private async suspend(): Promise<void> {
    for (const { id, host } of await this.due.suspended(forHost(this.#hostWork)))
      this.#hostWork.begin(id, host, () => this.timeouts.suspend(id));
  }

  private async endOverCap(): Promise<void> {
    for (const { id, host } of await this.due.overCap(forHost(this.#hostWork)))
      this.#hostWork.begin(id, host, () => this.timeouts.endOverCap(id));
  }

  private async giveUpAgents(): Promise<void> {
    for (const { id, host } of await this.due.onRemovedHosts(this.forLogWork()))
      this.#logWork.begin(id, host, () => this.timeouts.removeHost(id));
  }

  private async settleCreations(): Promise<void> {
    for (const { agentId, accountId } of await this.due.creations(LOG_WORK.atOnce))
      this.#logWork.begin(agentId, null, () => this.attempts.settleOverdue(agentId, accountId));
  }

  private forLogWork(): DueOptions {
    return { except: this.#logWork.ids, limit: LOG_WORK.atOnce };
  }
}

const forHost = ({ ids }: BoxWork): DueOptions => ({
  except: ids,
  limit: HOST_WORK.atOnceForHost,
});
