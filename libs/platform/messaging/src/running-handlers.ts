import type { RequestCaller } from '@berth/telemetry';
import { SILENCE_MS } from './pending-requests.js';

const BEAT_EVERY_MS = 1_000;
/** The first heartbeat is early: a caller that may repeat its request would otherwise consider it lost. */
const FIRST_BEAT_AFTER_MS = 300;
const TICK_MS = 250;

/** Sends heartbeats of a running handler to its caller. */
export interface Heartbeat {
  /** Sends one; returns whether it was sent. Calls `onGaveUp` when the caller replies that it no longer waits. */
  send(onGaveUp: () => void): boolean;
  /** Maximum age of the request when its handler started, in milliseconds. */
  readonly age: number;
  /** Maximum time that its caller had waited then; longer than `age` for a repeated request. */
  readonly waitedMs: number;
}

/** A running handler and the state of its caller. */
export class Running implements RequestCaller {
  /** When the caller last received a heartbeat, as far as this process knows. */
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
    // This process was frozen or cut off from the broker, so its caller received no heartbeats.
    if (performance.now() - this.#beatAt > SILENCE_MS) this.#gaveUp = true;
    return this.#gaveUp;
  }

  /** The caller has its reply: work that continues afterwards does not depend on it. */
  settle(): void {
    this.#settled = true;
  }

  tick(now: number): void {
    if (this.#settled) return;
    // Detects whether this process was frozen, before the heartbeat hides that.
    void this.gaveUp;
    if (now - this.#beatAt < (this.#first ? FIRST_BEAT_AFTER_MS : BEAT_EVERY_MS)) return;
    if (this.heartbeat?.send(() => (this.#gaveUp = true)) !== true) return;
    this.#first = false;
    this.#beatAt = now;
  }
}

/** The running handlers: sends heartbeats to their callers each second, and reports when all have finished. */
export class RunningHandlers {
  readonly #running = new Set<Running>();
  /** Number of running handlers without heartbeats. */
  #counted = 0;
  #ticker: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  get size(): number {
    return this.#running.size + this.#counted;
  }

  /** Runs `work`, which gets the state of its caller; sends heartbeats until it ends. */
  async run(
    work: (caller: Running) => Promise<void>,
    heartbeat: Heartbeat | undefined,
    commandId?: string,
  ): Promise<void> {
    const entry = new Running(heartbeat, commandId);
    this.#running.add(entry);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
    // The caller has received no heartbeat for a while.
    if ((heartbeat?.age ?? 0) > BEAT_EVERY_MS) entry.tick(performance.now());
    try {
      await work(entry);
    } finally {
      entry.settle();
      this.#running.delete(entry);
      if (this.#running.size === 0) this.#stopTicking();
      if (this.size === 0) this.#becomeIdle();
    }
  }

  /** Waits for `work`, which counts as a running handler until it settles; sends no heartbeats. */
  async count<T>(work: Promise<T>): Promise<T> {
    this.#counted++;
    try {
      return await work;
    } finally {
      this.#counted--;
      if (this.size === 0) this.#becomeIdle();
    }
  }

  /** Resolves when all handlers have finished or after `withinMs`; returns whether all finished. */
  async done(withinMs: number): Promise<boolean> {
    if (this.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
      timer = setTimeout(resolve, withinMs);
    });
    clearTimeout(timer);
    return this.size === 0;
  }

  #tick(): void {
    const now = performance.now();
    for (const entry of this.#running) entry.tick(now);
  }

  #stopTicking(): void {
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #becomeIdle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
