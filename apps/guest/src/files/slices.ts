import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the rest of the guest may have to wait for a piece of long work. */
const SLICE_MS = 4;

/** Cuts long work into slices, so that a guest goes on answering. */
export class Slices {
  #since = performance.now();

  /** Whether it is somebody else's turn. */
  get over(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everything else have its turn. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
