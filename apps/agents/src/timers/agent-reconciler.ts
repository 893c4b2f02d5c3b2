import { pause } from '@berth/supervision';
import { isDomainError } from '@berth/kernel';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import { CreationAttempts } from '../agent/creation-attempts.js';
import { AgentTimeouts } from './agent-timeouts.js';
import { AgentWork } from './agent-work.js';
import { DueAgentsQuery, type DueOptions } from './due-agents.query.js';

const TICK_MS = 1_000;
/** Requests to hosts take up to a minute each; a host that just came back does not get a thousand starts at once. */
const CARRYING = { atOnce: 200, atOnceForHost: 20 };
/** Decisions that only need the log. */
const DECIDING = { atOnce: 100, atOnceForHost: 100 };
const SETTLE_MS = 2_000;

/**
 * Acts on agents when time has passed, derived from their state on every tick: continues unfinished transitions, fails
 * overdue ones, takes warm agents cold, fails agents of a lost host, and abandons creations whose process died. No tick
 * waits for the work of an earlier one. A second instance would do no harm, because every decision carries the epoch for
 * which it was made.
 */
@Injectable()
@RunOnOneInstance({ name: 'timers' })
export class AgentReconciler implements Runnable {
  readonly #deciding: AgentWork;
  readonly #carrying: AgentWork;
  #listeningSince: number | undefined;

  constructor(
    private readonly due: DueAgentsQuery,
    private readonly timeouts: AgentTimeouts,
    private readonly lifecycle: AgentLifecycle,
    private readonly attempts: CreationAttempts,
    log: Logger,
  ) {
    this.#deciding = new AgentWork(DECIDING, log);
    this.#carrying = new AgentWork(CARRYING, log);
  }

  async run(signal: AbortSignal): Promise<void> {
    const listeningSince = (this.#listeningSince ??= Date.now());
    try {
      while (!signal.aborted) {
        await this.tick(listeningSince);
        await pause(TICK_MS, signal);
      }
      this.#listeningSince = undefined;
    } catch (error) {
      // Hosts cannot be heard during an outage. A query that fails for another reason must not hide lost hosts.
      if (isDomainError(error, 'unavailable')) this.#listeningSince = undefined;
      throw error;
    } finally {
      await Promise.all([this.#deciding.settle(SETTLE_MS), this.#carrying.settle(SETTLE_MS)]);
    }
  }

  /** Begins the work that is due. A query that fails does not affect the others; then throws its error. */
  private async tick(listeningSince: number): Promise<void> {
    const begun = await Promise.allSettled([
      this.failOverdue(),
      this.continueUnfinished(),
      this.cool(),
      this.loseAgents(listeningSince),
      this.settleCreations(),
    ]);
    for (const one of begun) if (one.status === 'rejected') throw one.reason;
  }

  private async failOverdue(): Promise<void> {
    for (const { id, host } of await this.due.overdue(this.decidable()))
      this.#deciding.begin(id, host, () => this.timeouts.failOverdue(id));
  }

  private async continueUnfinished(): Promise<void> {
    for (const { id, host } of await this.due.unfinished(this.carriable()))
      this.#carrying.begin(id, host, async () => {
        await this.lifecycle.drive(id);
      });
  }

  private async cool(): Promise<void> {
    for (const { id, host } of await this.due.warm(this.carriable()))
      this.#carrying.begin(id, host, () => this.timeouts.cool(id));
  }

  private async loseAgents(listeningSince: number): Promise<void> {
    for (const { id, host } of await this.due.onLostHosts(listeningSince, this.decidable()))
      this.#deciding.begin(id, host, () => this.timeouts.loseHost(id));
  }

  private async settleCreations(): Promise<void> {
    for (const { agentId, accountId } of await this.due.creations(DECIDING.atOnce))
      this.#deciding.begin(agentId, null, () => this.attempts.settleOverdue(agentId, accountId));
  }

  private decidable(): DueOptions {
    return { except: this.#deciding.agentIds, limit: DECIDING.atOnce };
  }

  private carriable(): DueOptions {
    return { except: this.#carrying.agentIds, limit: CARRYING.atOnceForHost };
  }
}
