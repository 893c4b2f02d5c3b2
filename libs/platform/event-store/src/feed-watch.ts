import type { EsdbClient, EsdbLine } from './esdb-line.js';

const LOOK_EVERY_MS = 2_500;

/**
 * A silent feed may have no events to deliver, or hang on a frozen node. While all open feeds are silent, this sends a
 * probe on the same connection; if the probe gets no reply, the line replaces the connection and its feeds.
 */
export class FeedWatch {
  readonly #isBehind = new Set<() => boolean>();
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(
    private readonly line: EsdbLine,
    private readonly probe: (open: EsdbClient) => Promise<void>,
  ) {}

  /** `isBehind`: whether the feed's reader has unread items. Returns a function that ends the watch. */
  add(isBehind: () => boolean): () => void {
    this.#isBehind.add(isBehind);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
    return () => {
      this.#isBehind.delete(isBehind);
      if (this.#isBehind.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look(): Promise<void> {
    const { current } = this.line;
    const isQuiet = performance.now() - current.heardAt >= LOOK_EVERY_MS;
    if (this.#asking || !isQuiet || [...this.#isBehind].some((isBehind) => isBehind())) return;
    this.#asking = true;
    try {
      await this.line.call(this.probe);
    } catch {
      // The line has handled the failure.
    } finally {
      this.#asking = false;
    }
  }
}
