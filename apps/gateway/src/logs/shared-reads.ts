import { Injectable } from '@nestjs/common';

/**
 * Readers that wait for the same thing wait together: a read that is asked for while the same one is under way gets its
 * answer. Followers that have caught up with a log all wait at the same place, so that any number of them costs one read.
 */
@Injectable()
export class SharedReads {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** `key` names everything that the answer depends on. */
  read<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#underWay.get(key);
    if (known !== undefined) return known as Promise<T>;
    const asked = ask().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asked);
    return asked;
  }
}
