import type { EsdbClient, EsdbLine } from './esdb-line.js';

const LOOK_EVERY_MS = 2_500;

/**
 * A feed that says nothing may have nothing to say, or hang on a frozen node. While feeds are open and silent a question
 * is asked beside them on the same connection; without an answer the line replaces that, and the feeds with it.
 */
export class FeedWatch {
  readonly #isBehind = new Set<() => boolean>();
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(
    private readonly line: EsdbLine,
    private readonly probe: (open: EsdbClient) => Promise<void>,
  ) {}

  /** `isBehind`: the feed's reader has not taken yet what came. Returns how to end the watch. */
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
      // The line has drawn its conclusion.
    } finally {
      this.#asking = false;
    }
  }
}
