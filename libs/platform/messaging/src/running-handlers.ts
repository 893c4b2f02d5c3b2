const BEAT_EVERY_MS = 1_000;
const TICK_MS = 250;

interface Running {
  readonly beat: (() => void) | undefined;
  beatAt: number;
}

/** Handlers at work: tells their callers once a second that they are, and knows when all are done. */
export class RunningHandlers {
  readonly #running = new Set<Running>();
  #ticker: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  /** Runs `work`; calls `beat` every second until it is done. */
  async run(work: () => Promise<void>, beat: (() => void) | undefined): Promise<void> {
    const entry: Running = { beat, beatAt: performance.now() };
    this.#running.add(entry);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
    try {
      await work();
    } finally {
      this.#running.delete(entry);
      if (this.#running.size === 0) this.#rest();
    }
  }

  /** Resolves when nothing runs any more, or after `withinMs`; answers whether all were done. */
  async done(withinMs: number): Promise<boolean> {
    if (this.#running.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
      timer = setTimeout(resolve, withinMs);
    });
    clearTimeout(timer);
    return this.#running.size === 0;
  }

  #tick(): void {
    const now = performance.now();
    for (const entry of this.#running) {
      if (now - entry.beatAt < BEAT_EVERY_MS) continue;
      entry.beatAt = now;
      entry.beat?.();
    }
  }

  #rest(): void {
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
