import { detach } from '@berth/kernel';
import type { EsdbClient, LeaderConnection } from './leader-connection.js';

const LOOK_EVERY_MS = 2_500;

/**
 * A silent feed may have no events to deliver, or hang on a frozen node. While the connection of the open feeds is
 * silent and no reader is behind, this sends probes on it; if they get no reply, the connection and its feeds are
 * replaced.
 */
export class FeedWatch {
  readonly #behindChecks = new Set<() => boolean>();
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(
    private readonly connection: LeaderConnection,
    private readonly probe: (open: EsdbClient) => Promise<void>,
  ) {}

  /** Watches a feed until the returned function is called. `isBehind`: whether the feed's reader has unread items. */
  add(isBehind: () => boolean): () => void {
    this.#behindChecks.add(isBehind);
    this.#timer ??= setInterval(() => detach(this.#look()), LOOK_EVERY_MS).unref();
    return () => {
      this.#behindChecks.delete(isBehind);
      if (this.#behindChecks.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look(): Promise<void> {
    const { current } = this.connection;
    const isQuiet = performance.now() - current.heardAt >= LOOK_EVERY_MS;
    if (this.#asking || !isQuiet || [...this.#behindChecks].some((isBehind) => isBehind())) return;
    this.#asking = true;
    try {
      await this.connection.call(this.probe);
    } catch {
      // The connection has handled the failure.
    } finally {
      this.#asking = false;
    }
  }
}
