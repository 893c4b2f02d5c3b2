import type { ServerResponse } from 'node:http';

/**
 * Shares places between holders whose number nobody knows in advance: a holder gets another place only while it has fewer
 * than are free. One holder gets at most half of the places, the next at most half of the rest, and of n that come and go
 * each one part in n + 1 (dynamic thresholds: A. K. Choudhury and E. L. Hahne, IEEE/ACM Transactions on Networking 6(2),
 * 1998).
 */
export class FairShares {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Takes a place and returns the function that frees it; undefined if the holder has its share. */
  take(holder: string): (() => void) | undefined {
    const taken = this.#taken.get(holder) ?? 0;
    if (taken >= this.#free) return undefined;
    this.#taken.set(holder, taken + 1);
    this.#free--;
    let isFreed = false;
    return () => {
      if (isFreed) return;
      isFreed = true;
      this.#release(holder);
    };
  }

  /** Takes a place until the response is over. Returns false if the holder has its share. */
  hold(holder: string, response: Pick<ServerResponse, 'destroyed' | 'once'>): boolean {
    const free = this.take(holder);
    if (free === undefined) return false;
    if (response.destroyed) free();
    else response.once('close', free);
    return true;
  }

  #release(holder: string): void {
    const left = (this.#taken.get(holder) ?? 1) - 1;
    if (left === 0) this.#taken.delete(holder);
    else this.#taken.set(holder, left);
    this.#free++;
  }
}
