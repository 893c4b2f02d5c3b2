import { Injectable } from '@nestjs/common';

/**
 * Joins identical reads: a read that begins while the same one is running gets its result. Followers that have caught up
 * with a log all wait at the same position, so any number of them costs one read.
 */
@Injectable()
export class SharedReads {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** `key` contains everything that the result depends on. */
  read<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#underWay.get(key);
    if (known !== undefined) return known as Promise<T>;
    const asked = ask().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asked);
    return asked;
  }
}
