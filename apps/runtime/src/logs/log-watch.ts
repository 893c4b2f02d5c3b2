import { watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';

/** What is written within so many milliseconds wakes readers once. */
const GATHER_MS = 50;
/** How often readers look where the kernel does not say: the folder is missing, or no more watches can be had. */
const LOOK_EVERY_MS = 500;

/** Wakes the readers of one folder when something in it changes. Made by `LogWatches`. */
export class LogWatch implements Disposable {
  #version = 0;
  #readers = 0;
  #waiting = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly folder: string,
    private readonly onUnused: () => void,
  ) {}

  /** One more reader, until it is disposed of. */
  enter(): this {
    if (this.#readers++ === 0) this.#start();
    return this;
  }

  [Symbol.dispose](): void {
    if (--this.#readers > 0) return;
    this.#stop();
    this.onUnused();
  }

  /** Grows with each change. Take it before reading, and wait for what comes after it. */
  get version(): number {
    return this.#version;
  }

  /** Resolves when the version is another one, after so many milliseconds, or when all readers are woken. */
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
      // The watcher closes with its readers; an error of it is answered by looking.
      this.#watcher = watch(this.folder, { persistent: false }, (_event, name) => {
        if (name === basename(this.folder)) this.#lookInstead();
        this.#gathering ??= setTimeout(() => {
          this.#gathering = undefined;
          this.wakeAll();
        }, GATHER_MS);
      });
      this.#watcher.on('error', () => this.#lookInstead());
    } catch {
      this.#lookInstead();
    }
  }

  #lookInstead(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#looking ??= setInterval(() => this.wakeAll(), LOOK_EVERY_MS);
  }

  #stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}

/** One watch for each folder that is being read on, none while nobody waits. */
export class LogWatches {
  readonly #watches = new Map<string, LogWatch>();

  /** How many folders are being watched. */
  get size(): number {
    return this.#watches.size;
  }

  enter(folder: string): LogWatch {
    const known = this.#watches.get(folder);
    if (known !== undefined) return known.enter();
    const made = new LogWatch(folder, () => this.#watches.delete(folder));
    this.#watches.set(folder, made);
    return made.enter();
  }

  wakeAll(): void {
    for (const one of this.#watches.values()) one.wakeAll();
  }
}
