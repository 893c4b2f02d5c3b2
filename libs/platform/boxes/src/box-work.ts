import { within } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';

/** Limits of concurrent work. */
export interface WorkLimits {
  readonly atOnce: number;
  /** Keeps a host that hangs, or has just come back, from taking all of it. */
  readonly atOnceForHost: number;
}

/**
 * Runs work on boxes: independently for different boxes, once at a time for each box. It refuses work beyond its
 * limits, because the next tick finds it again. Queues from libraries keep such work, and have no limit per host.
 */
export class BoxWork {
  readonly #running = new Map<string, { readonly host: string | null; readonly done: Promise<void> }>();

  constructor(
    private readonly limits: WorkLimits,
    private readonly log: Logger,
  ) {}

  /** The boxes with running work. */
  get ids(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Returns immediately; false when the box has running work already, or a limit is reached. */
  begin(boxId: string, host: string | null, work: () => Promise<void>): boolean {
    const { atOnce, atOnceForHost } = this.limits;
    if (this.#running.has(boxId) || this.#running.size >= atOnce) return false;
    const ofHost = [...this.#running.values()].filter((running) => running.host === host).length;
    if (host !== null && ofHost >= atOnceForHost) return false;
    const done = Promise.resolve()
      .then(work)
      .catch((error: unknown) => this.log.warn({ boxId, err: error }, 'could not reconcile a box'))
      .finally(() => this.#running.delete(boxId));
    this.#running.set(boxId, { host, done });
    return true;
  }

  /** Waits for running work, at most `withinMs`. */
  async settle(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all([...this.#running.values()].map(({ done }) => done)), undefined);
  }
}
