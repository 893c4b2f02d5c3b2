import type { StartedAgent } from '@berth/contracts/runtime';

interface Holder {
  readonly epoch: number;
  readonly interrupt: AbortController;
  readonly started: Promise<StartedAgent> | undefined;
}

/** A start or reload that holds an agent's critical section for long; a stop or a newer start interrupts it. */
export class InterruptibleTask {
  #holder: Holder | undefined;

  /** Epoch of the current task; 0 without one. */
  get epoch(): number {
    return this.#holder?.epoch ?? 0;
  }

  /** The running start of that epoch, if there is one. */
  startOf(epoch: number): Promise<StartedAgent> | undefined {
    return this.#holder?.epoch === epoch ? this.#holder.started : undefined;
  }

  start(epoch: number, work: (interrupt: AbortSignal) => Promise<StartedAgent>): Promise<StartedAgent> {
    const interrupt = new AbortController();
    const started = work(interrupt.signal);
    this.#hold({ epoch, interrupt, started }, started);
    return started;
  }

  run(epoch: number, work: (interrupt: AbortSignal) => Promise<void>): Promise<void> {
    const interrupt = new AbortController();
    const done = work(interrupt.signal);
    this.#hold({ epoch, interrupt, started: undefined }, done);
    return done;
  }

  /** Interrupts the task if its epoch is at most `upTo`. */
  interrupt(upTo = Number.MAX_SAFE_INTEGER): void {
    if (this.epoch <= upTo) this.#holder?.interrupt.abort();
  }

  #hold(holder: Holder, work: Promise<unknown>): void {
    this.#holder = holder;
    const over = (): void => {
      if (this.#holder === holder) this.#holder = undefined;
    };
    work.then(over, over);
  }
}
