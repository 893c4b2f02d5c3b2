import type { Logger } from '@berth/telemetry';
import { within } from '../agent/within.js';

/** How many agents are worked on at once. */
export interface WorkLimits {
  readonly atOnce: number;
  /** A host that hangs, or has just come back, takes no more than this of it. */
  readonly atOnceForHost: number;
}

/** Work on agents, each one's independent of all others', and each agent's once at a time. */
export class AgentWork {
  readonly #running = new Map<string, { readonly host: string | null; readonly done: Promise<void> }>();

  constructor(
    private readonly limits: WorkLimits,
    private readonly log: Logger,
  ) {}

  /** The agents that are worked on. */
  get agentIds(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Returns at once: whether the work was begun. It is not when the agent is worked on, or too many are. */
  begin(agentId: string, host: string | null, work: () => Promise<void>): boolean {
    const { atOnce, atOnceForHost } = this.limits;
    if (this.#running.has(agentId) || this.#running.size >= atOnce) return false;
    const ofHost = [...this.#running.values()].filter((running) => running.host === host).length;
    if (host !== null && ofHost >= atOnceForHost) return false;
    const done = Promise.resolve()
      .then(work)
      .catch((error: unknown) => this.log.warn({ agentId, err: error }, 'a timer could not act on the agent'))
      .finally(() => this.#running.delete(agentId));
    this.#running.set(agentId, { host, done });
    return true;
  }

  /** Waits for what is under way, so long at most. */
  async settle(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all([...this.#running.values()].map(({ done }) => done)), undefined);
  }
}
