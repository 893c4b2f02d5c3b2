import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** How many are made at a time. */
const BATCH = 32;
/** One program has two streams. */
const ENOUGH = 2;
/** Of those nobody uses no more are kept. */
const MOST_IDLE = 256;
/** Any user may write, whoever's folder it lies in: a program opens its own by descriptor, not by name. */
const MODE = '622';
const MADE_WITHIN_MS = 5_000;
/** A system that could not make any is not asked again at once. */
const REST_MS = 10_000;

/** A pipe whose ends are both open here. */
export interface OutputPipe {
  /** Flows from the next turn on and ends with its last writer, whether anybody listens or not. */
  readonly readable: Readable;
  /** To be handed on, then closed here. */
  readonly writeEnd: number;
}

/**
 * Pipes for the output of programs. A program may open its own output again, as `/dev/stdout` and `/dev/stderr`, and
 * another user than this process may do so: neither goes with the sockets that Node makes for children. Node makes no
 * pipes, so they are files (FIFOs) made ahead by `mkfifo`, used again once nobody holds them. Where there is no such tool
 * nothing is ever taken.
 */
export class OutputPipes {
  readonly #idle: string[] = [];
  /** The `mkfifo` of an earlier owner that was killed may still be at it. */
  readonly #prefix = randomBytes(4).toString('hex');
  #names = 0;
  #making: Promise<void> | undefined;
  #restUntil = 0;
  #isClosed = false;

  /** Empties the folder, which is this object's alone. */
  constructor(private readonly folder: string) {
    removeQuietly(folder);
    void this.refill();
  }

  /** Whether it is worth waiting for `refill` before one is taken. */
  get isShort(): boolean {
    return this.#idle.length < ENOUGH && !this.#isClosed && performance.now() >= this.#restUntil;
  }

  /** Makes some more; resolves when there are, or when none can be made. Others may take them first. */
  refill(): Promise<void> {
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    return this.#making;
  }

  /** Undefined: there is none. */
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

  /** Removes all files; what is in use stays usable. */
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

  /** Somebody may still write into one that did not end. */
  #putBack(name: string, hasEnded: boolean): void {
    if (hasEnded && !this.#isClosed && this.#idle.length < MOST_IDLE) this.#idle.push(name);
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
    { cwd: folder, timeout: MADE_WITHIN_MS, killSignal: 'SIGKILL' },
    (error) => (error === null ? resolve() : reject(error)),
  );
  return promise;
};

const removeQuietly = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // What stays takes up a name at most.
  }
};

/** Does not wait for a writer. */
const openReadable = (path: string): Readable => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return new Socket({ fd, readable: true, writable: false });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};
