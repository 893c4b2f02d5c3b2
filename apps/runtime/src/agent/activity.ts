import type { ActivityKind } from '@berth/contracts/hosting';

/** When an agent was last active, and when it becomes idle. */
export interface ActivityView {
  /** Milliseconds since the Unix epoch. */
  readonly lastActiveAt: number;
  readonly lastActivityKind: ActivityKind;
  /** When the agent becomes idle; null if it never does, and while work is in flight. */
  readonly sleepAt: number | null;
}

/** Counts the work in flight in an awake agent and calls `onIdle` after `idleTtlSeconds` without any (0: never). */
export class Activity {
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastActiveAt: number;
  /** The same moment on a clock that nobody sets. */
  #activeSince: number;
  #lastKind: ActivityKind;

  constructor(
    kind: ActivityKind,
    private idleTtlSeconds: number,
    private readonly hooks: { readonly onIdle: () => void; readonly onChange: (view: ActivityView) => void },
  ) {
    this.#lastActiveAt = Date.now();
    this.#activeSince = performance.now();
    this.#lastKind = kind;
    this.#touch(kind);
  }

  get idle(): boolean {
    return this.#inFlight === 0 && this.idleTtlSeconds > 0 && this.#leftMs <= 0;
  }

  get view(): ActivityView {
    const counting = this.#inFlight === 0 && this.idleTtlSeconds > 0;
    return {
      lastActiveAt: this.#lastActiveAt,
      lastActivityKind: this.#lastKind,
      sleepAt: counting ? this.#lastActiveAt + this.#ttlMs : null,
    };
  }

  get busy(): boolean {
    return this.#inFlight > 0;
  }

  /** Changes the idle time without counting as activity. */
  setIdleTime(idleTtlSeconds: number): void {
    this.idleTtlSeconds = idleTtlSeconds;
    if (!this.#ended) this.#measure();
  }

  /** Resolves once nothing is in flight, or after `withinMs`. */
  async untilQuiet(withinMs: number): Promise<void> {
    if (!this.busy) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Keeps the agent awake while `work` runs. */
  async during<T>(kind: ActivityKind, work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    this.#touch(kind);
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      this.#touch(kind);
      if (this.#inFlight === 0) this.#notifyQuiet();
    }
  }

  /** Stops counting: the agent is no longer awake. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ended = true;
    this.#notifyQuiet();
  }

  #ended = false;
  readonly #waiting = new Set<() => void>();

  #notifyQuiet(): void {
    for (const notify of this.#waiting) notify();
    this.#waiting.clear();
  }

  get #ttlMs(): number {
    return this.idleTtlSeconds * 1000;
  }

  /** Time until the agent is idle if nothing is in flight. */
  get #leftMs(): number {
    return this.#activeSince + this.#ttlMs - performance.now();
  }

  #touch(kind: ActivityKind): void {
    if (this.#ended) return;
    this.#lastActiveAt = Date.now();
    this.#activeSince = performance.now();
    this.#lastKind = kind;
    this.#measure();
  }

  #measure(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#inFlight === 0 && this.idleTtlSeconds > 0) this.#arm();
    this.hooks.onChange(this.view);
  }

  #arm(): void {
    // A timer may fire slightly early.
    const left = Math.max(1, this.#leftMs);
    this.#timer = setTimeout(() => (this.idle ? this.hooks.onIdle() : this.#arm()), left);
    this.#timer.unref();
  }
}
