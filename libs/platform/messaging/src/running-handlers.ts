import type { RequestCaller } from '@berth/telemetry';
import { SILENCE_MS } from './pending-requests.js';

const BEAT_EVERY_MS = 1_000;
/** The first one comes early: a caller that may ask again takes longer silence for a lost request. */
const FIRST_BEAT_AFTER_MS = 300;
const TICK_MS = 250;

/** How the caller of a running handler is told of it. */
export interface Heartbeat {
  /** Sends one; returns whether it left. Calls `onGaveUp` when the caller replies that it does not wait any more. */
  send(onGaveUp: () => void): boolean;
  /** How old the request may have been when its handler began, in milliseconds. */
  readonly age: number;
  /** How long its caller may have waited then; longer than `age` for a request that was sent again. */
  readonly waitedMs: number;
}

/** One handler at work, and what is known of its caller. */
export class Running implements RequestCaller {
  /** When the caller last got a sign of life, as far as this process can know. */
  #beatAt: number;
  #first = true;
  #settled = false;
  #gaveUp = false;

  constructor(
    private readonly heartbeat: Heartbeat | undefined,
    readonly commandId?: string,
  ) {
    this.#beatAt = performance.now() - (heartbeat?.age ?? 0);
  }

  get waitedMs(): number {
    return this.heartbeat?.waitedMs ?? 0;
  }

  get gaveUp(): boolean {
    if (this.#settled || this.heartbeat === undefined) return false;
    // This process stood still, or is cut off from the broker: its caller heard nothing of it.
    if (performance.now() - this.#beatAt > SILENCE_MS) this.#gaveUp = true;
    return this.#gaveUp;
  }

  /** The caller has its reply: what goes on behind it is bound to nobody. */
  settle(): void {
    this.#settled = true;
  }

  tick(now: number): void {
    if (this.#settled || this.gaveUp) return;
    if (now - this.#beatAt < (this.#first ? FIRST_BEAT_AFTER_MS : BEAT_EVERY_MS)) return;
    if (this.heartbeat?.send(() => (this.#gaveUp = true)) !== true) return;
    this.#first = false;
    this.#beatAt = now;
  }
}

/** Handlers at work: tells their callers once a second that they are, and knows when all are done. */
export class RunningHandlers {
  readonly #running = new Set<Running>();
  #ticker: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  /** Runs `work`, which may ask what is known of its caller; sends heartbeats until it is done. */
  async run(
    work: (caller: Running) => Promise<void>,
    heartbeat: Heartbeat | undefined,
    commandId?: string,
  ): Promise<void> {
    const entry = new Running(heartbeat, commandId);
    this.#running.add(entry);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
    // Its caller has heard nothing for a while already.
    if ((heartbeat?.age ?? 0) > BEAT_EVERY_MS) entry.tick(performance.now());
    try {
      await work(entry);
    } finally {
      entry.settle();
      this.#running.delete(entry);
      if (this.#running.size === 0) this.#rest();
    }
  }

  /** Counts as running until `decision` is made. */
  async hold<T>(decision: Promise<T>): Promise<T> {
    let decided: { readonly value: T } | undefined;
    await this.run(async () => void (decided = { value: await decision }), undefined);
    if (decided === undefined) throw new Error('Undecided.');
    return decided.value;
  }

  /** Resolves when nothing runs any more, or after `withinMs`; returns whether all were done. */
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
    for (const entry of this.#running) entry.tick(now);
  }

  #rest(): void {
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
