import type { RebuildProgress } from './projection.js';

/** Measures the progress of a rebuild; the measurement starts with the construction. */
export class ProgressMeter {
  readonly #began = performance.now();
  readonly #from: bigint;

  constructor(
    private readonly writer: { readonly applied: number; readonly position: bigint | null },
    private readonly head: bigint,
  ) {
    this.#from = writer.position ?? 0n;
  }

  read(): RebuildProgress {
    const { applied } = this.writer;
    const position = this.writer.position ?? 0n;
    const head = position > this.head ? position : this.head;
    const seconds = Math.max((performance.now() - this.#began) / 1_000, 0.001);
    const perSecond = Number(position - this.#from) / seconds;
    return {
      applied,
      position,
      head,
      eventsPerSecond: Math.round(applied / seconds),
      secondsLeft: perSecond > 0 ? Math.ceil(Number(head - position) / perSecond) : null,
    };
  }
}
