import { Injectable } from '@nestjs/common';

/**
 * Joins identical reads: a read that begins while the same one is running gets its result. Followers that have caught up
 * with a log all wait at the same position, so any number of them costs one read.
 */
@Injectable()
export class SharedReads {
  readonly #running = new Map<string, Promise<unknown>>();

  /** `key` contains everything that the result depends on. */
  read<T>(key: string, startRead: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<T>;
    const started = startRead().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
