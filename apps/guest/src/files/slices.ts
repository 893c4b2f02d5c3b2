import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time that long work may block the rest of the guest. */
const SLICE_MS = 4;

/** Divides long work into slices, so that the guest stays responsive. */
export class Slices {
  #since = performance.now();

  /** Whether the current slice is used up. */
  get over(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Yields to all other pending work. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
