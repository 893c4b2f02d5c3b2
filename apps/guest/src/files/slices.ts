import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time that long work may block the rest of the guest. */
const SLICE_MS = 2;

/** Divides long work into slices, so that the guest stays responsive. */
export class Slices {
  #since = performance.now();

  /** Yields to all other pending work if the current slice is used up. */
  async restIfOver(): Promise<void> {
    if (performance.now() - this.#since <= SLICE_MS) return;
    await nextTurn();
    this.#since = performance.now();
  }
}
