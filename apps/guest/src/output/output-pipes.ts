import { execFile } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { detach } from '@berth/kernel';

/** Number of pipes to create at a time. */
const BATCH = 32;
/** One program has two streams. */
const ENOUGH = 2;
/** Maximum number of unused pipes to keep. */
const MAX_IDLE = 256;
/** Writable for any user, but in a private folder: a program opens its own pipe by descriptor, not by name. */
const MODE = '622';
const MKFIFO_TIMEOUT_MS = 5_000;
/** Pause before the next attempt after `mkfifo` failed. */
const REST_MS = 10_000;

/** A pipe with both ends open in this process. */
export interface OutputPipe {
  /** Starts to flow in the next turn of the event loop, with or without listeners, and ends with its last writer. */
  readonly readable: Readable;
  /** Pass it to a child, then close it here. */
  readonly writeEnd: number;
}

/**
 * Pipes for the output of programs. A program may reopen its own output as `/dev/stdout` and `/dev/stderr`, even as
 * another user than this process; neither works with the sockets that Node creates for children. Node cannot create
 * pipes, so these are FIFOs, created in advance by `mkfifo` and reused once no process has them open. Without `mkfifo`,
 * `take` always returns undefined.
 */
export class OutputPipes {
  readonly #idle: string[] = [];
  /**
   * A unique prefix: `mkfifo` of a killed earlier owner may still be running. It is no secret, and a guest starts faster
   * without `node:crypto`.
   */
  readonly #prefix = Math.random().toString(36).slice(2, 10);
  #names = 0;
  #making: Promise<void> | undefined;
  #restUntil = 0;
  #isClosed = false;

  /** Empties the folder, which only this object uses. */
  constructor(private readonly folder: string) {
    removeQuietly(folder);
    detach(this.refill());
  }

  /** Whether to wait for `refill` before `take`. */
  get isShort(): boolean {
    return this.#idle.length < ENOUGH && !this.#isClosed && performance.now() >= this.#restUntil;
  }

  /** Creates more pipes; resolves when done or failed. Other callers may take them first. */
  refill(): Promise<void> {
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    return this.#making;
  }

  /** Undefined if there is none. */
  take(): OutputPipe | undefined {
    const name = this.#isClosed ? undefined : this.#idle.pop();
    if (name === undefined) return undefined;
    try {
      return this.#open(name);
    } catch {
      this.#remove(name);
      return undefined;
    }
  }

  /** Removes all files; pipes in use keep working. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#making;
    this.#idle.length = 0;
    removeQuietly(this.folder);
  }

  #open(name: string): OutputPipe {
    const path = join(this.folder, name);
    const readable = openReadable(path);
    readable.on('error', () => undefined);
    readable.once('close', () => this.#putBack(name, readable.readableEnded));
    try {
      const writeEnd = openSync(path, constants.O_WRONLY);
      readable.resume();
      return { readable, writeEnd };
    } catch (error) {
      readable.destroy();
      throw error;
    }
  }

  /** A pipe that did not end may still have a writer. */
  #putBack(name: string, hasEnded: boolean): void {
    if (hasEnded && !this.#isClosed && this.#idle.length < MAX_IDLE) this.#idle.push(name);
    else this.#remove(name);
  }

  #remove(name: string): void {
    removeQuietly(join(this.folder, name));
  }

  async #make(): Promise<void> {
    const names = Array.from({ length: BATCH }, () => `${this.#prefix}-${(this.#names += 1)}`);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      await makeFifos(this.folder, names);
    } catch {
      this.#restUntil = performance.now() + REST_MS;
      for (const name of names) this.#remove(name);
      return;
    }
    this.#idle.push(...names);
  }
}

const makeFifos = (folder: string, names: readonly string[]): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  execFile(
    'mkfifo',
    ['-m', MODE, '--', ...names],
    { cwd: folder, timeout: MKFIFO_TIMEOUT_MS, killSignal: 'SIGKILL' },
    (error) => (error === null ? resolve() : reject(error)),
  );
  return promise;
};

const removeQuietly = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A file that remains only occupies its name.
  }
};

/** Does not block until there is a writer. */
const openReadable = (path: string): Readable => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return new Socket({ fd, readable: true, writable: false });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};
