import type { Logger } from '@berth/telemetry';
import { within } from '../agent/within.js';

/** Limits of concurrent work. */
export interface WorkLimits {
  readonly atOnce: number;
  /** Keeps a host that hangs, or has just come back, from taking all of it. */
  readonly atOnceForHost: number;
}

/**
 * Runs work on agents: independently for different agents, once at a time for each agent. It refuses work beyond its
 * limits, because the next tick finds it again. Queues from libraries keep such work, and have no limit per host.
 */
export class AgentWork {
  readonly #running = new Map<string, { readonly host: string | null; readonly done: Promise<void> }>();

  constructor(
    private readonly limits: WorkLimits,
    private readonly log: Logger,
  ) {}

  /** The agents with running work. */
  get agentIds(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Returns immediately; false when the agent has running work already, or a limit is reached. */
  begin(agentId: string, host: string | null, work: () => Promise<void>): boolean {
    const { atOnce, atOnceForHost } = this.limits;
    if (this.#running.has(agentId) || this.#running.size >= atOnce) return false;
    const ofHost = [...this.#running.values()].filter((running) => running.host === host).length;
    if (host !== null && ofHost >= atOnceForHost) return false;
    const done = Promise.resolve()
      .then(work)
      .catch((error: unknown) => this.log.warn({ agentId, err: error }, 'could not reconcile the agent'))
      .finally(() => this.#running.delete(agentId));
    this.#running.set(agentId, { host, done });
    return true;
  }

  /** Waits for running work, at most `withinMs`. */
  async settle(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all([...this.#running.values()].map(({ done }) => done)), undefined);
  }
}
