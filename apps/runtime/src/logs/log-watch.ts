import { watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';

/** Changes within this time wake readers only once. */
const DEBOUNCE_MS = 50;
/** Polling interval if the kernel cannot watch: the folder is missing, or the limit of watches is reached. */
const POLL_INTERVAL_MS = 500;

/** Wakes the readers of one folder when its content changes. Created by `LogWatches`. */
export class LogWatch implements Disposable {
  #version = 0;
  #readers = 0;
  #waiting = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #debouncing: NodeJS.Timeout | undefined;
  #polling: NodeJS.Timeout | undefined;

  constructor(
    private readonly folder: string,
    private readonly onUnused: () => void,
  ) {}

  /** Adds a reader, until the watch is disposed. */
  enter(): this {
    if (this.#readers++ === 0) this.#start();
    return this;
  }

  [Symbol.dispose](): void {
    if (--this.#readers > 0) return;
    this.#stop();
    this.onUnused();
  }

  /** Increases with each change. Read it before reading the log, then wait for a change from that version. */
  get version(): number {
    return this.#version;
  }

  /** Resolves when the version changes, after `withinMs`, or when all readers are woken. */
  async changed(since: number, withinMs: number): Promise<void> {
    if (this.#version !== since) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, withinMs);
      this.#waiting.add(wake);
    });
  }

  wakeAll(): void {
    this.#version++;
    for (const wake of this.#waiting) wake();
  }

  #start(): void {
    try {
      // The watcher closes with its last reader; after an error, polling replaces it.
      this.#watcher = watch(this.folder, { persistent: false }, (_event, name) => {
        if (name === basename(this.folder)) this.#pollInstead();
        this.#debouncing ??= setTimeout(() => {
          this.#debouncing = undefined;
          this.wakeAll();
        }, DEBOUNCE_MS);
      });
      this.#watcher.on('error', () => this.#pollInstead());
    } catch {
      this.#pollInstead();
    }
  }

  #pollInstead(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#polling ??= setInterval(() => this.wakeAll(), POLL_INTERVAL_MS);
  }

  #stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearTimeout(this.#debouncing);
    this.#debouncing = undefined;
    clearInterval(this.#polling);
    this.#polling = undefined;
  }
}

/** Shares one watch per folder between its readers; watches nothing without readers. */
export class LogWatches {
  readonly #watches = new Map<string, LogWatch>();

  /** Number of watched folders. */
  get size(): number {
    return this.#watches.size;
  }

  enter(folder: string): LogWatch {
    const existing = this.#watches.get(folder);
    if (existing !== undefined) return existing.enter();
    const created = new LogWatch(folder, () => this.#watches.delete(folder));
    this.#watches.set(folder, created);
    return created.enter();
  }

  /** Wakes the readers of one folder. */
  wake(folder: string): void {
    this.#watches.get(folder)?.wakeAll();
  }

  wakeAll(): void {
    for (const one of this.#watches.values()) one.wakeAll();
  }
}
