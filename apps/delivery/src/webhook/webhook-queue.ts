import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { QueueNotices } from './queue-notices.js';
import { ACCEPTANCE_PAUSE_MS, WebhookLane, type Shift } from './webhook-lane.js';
import { WebhookVault } from './webhook-vault.js';

const TICK_MS = 1_000;
const SETTLE_MS = 2_000;
const AFTER_FAILURE_MS = 5_000;
/** Agents of one account that are worked on at once, so that those of no account wait for another's. */
const AT_ONCE_PER_ACCOUNT = 256;
const MOST_AGENTS_PER_TICK = 10_000;

/** Works on the queues of all agents: each in its own lane, so that a slow agent delays no other. */
@Injectable()
@RunOnOneInstance({ name: 'webhook-queue' })
export class WebhookQueue implements Runnable {
  /** The account of each agent that is being worked on. */
  readonly #lanes = new Map<string, { readonly accountId: string; readonly work: Promise<void> }>();
  /** Agents that have to wait: since when, and when they are due again, on a clock that nothing sets. */
  readonly #waiting = new Map<string, { readonly since: number; readonly dueAt: number }>();
  #wake = new AbortController();

  constructor(
    private readonly vault: WebhookVault,
    private readonly lane: WebhookLane,
    private readonly notices: QueueNotices,
    private readonly log: Logger,
  ) {}

  async run(over: AbortSignal): Promise<void> {
    const shift: Shift = { since: Date.now(), over };
    const stopListening = this.notices.listen({
      accepted: (agentId) => this.#hasAnother(agentId),
      runs: (agentId) => this.#isFree(agentId),
      missed: () => this.#isFree(null),
    });
    this.#waiting.clear();
    try {
      while (!over.aborted) {
        this.#wake = new AbortController();
        await this.#beginLanes(shift);
        await pause(TICK_MS, AbortSignal.any([over, this.#wake.signal]));
      }
    } finally {
      stopListening();
      await this.#settle();
    }
  }

  /** Another delivery ends a wait at most once a second: a flood for an agent that cannot take it costs no checks. */
  #hasAnother(agentId: string): void {
    const now = performance.now();
    const { since, dueAt } = this.#waiting.get(agentId) ?? { since: -Infinity, dueAt: now };
    if (dueAt - now <= ACCEPTANCE_PAUSE_MS || now - since >= TICK_MS) this.#isFree(agentId);
  }

  #isFree(agentId: string | null): void {
    if (agentId === null) this.#waiting.clear();
    else this.#waiting.delete(agentId);
    this.#wake.abort();
  }

  async #beginLanes(shift: Shift): Promise<void> {
    const now = performance.now();
    for (const [agentId, { dueAt }] of this.#waiting) if (dueAt <= now) this.#waiting.delete(agentId);
    const without = [...this.#lanes.keys(), ...this.#waiting.keys()];
    const perAccount = Map.groupBy(this.#lanes.values(), ({ accountId }) => accountId);
    const counts = new Map([...perAccount].map(([accountId, lanes]) => [accountId, lanes.length]));
    for (const { agentId, accountId } of await this.vault.agentsWaiting(without, MOST_AGENTS_PER_TICK)) {
      const count = counts.get(accountId) ?? 0;
      if (count >= AT_ONCE_PER_ACCOUNT) continue;
      counts.set(accountId, count + 1);
      this.#begin(agentId, accountId, shift);
    }
  }

  #begin(agentId: string, accountId: string, shift: Shift): void {
    const work = this.lane.work(agentId, shift).then(
      (waitMs) => this.#ended(agentId, waitMs),
      (error: unknown) => {
        this.log.warn({ agentId, err: error }, 'could not work on the webhooks of an agent');
        this.#ended(agentId, AFTER_FAILURE_MS);
      },
    );
    this.#lanes.set(agentId, { accountId, work });
  }

  #ended(agentId: string, waitMs: number | null): void {
    this.#lanes.delete(agentId);
    if (waitMs === null) this.#wake.abort();
    else {
      const since = performance.now();
      this.#waiting.set(agentId, { since, dueAt: since + waitMs });
      if (waitMs < TICK_MS) setTimeout(() => this.#wake.abort(), waitMs).unref();
    }
  }

  /** Messages in flight continue in the agent; the process that works next asks for their outcomes. */
  async #settle(): Promise<void> {
    const ending = new AbortController();
    const lanes = [...this.#lanes.values()].map(({ work }) => work);
    await Promise.race([Promise.all(lanes), pause(SETTLE_MS, ending.signal)]);
    ending.abort();
  }
}
