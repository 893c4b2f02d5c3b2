import type { StartedAgent } from '@berth/contracts-runtime';

interface Holder {
  readonly epoch: number;
  readonly interrupt: AbortController;
  readonly started: Promise<StartedAgent> | undefined;
}

/** What holds an agent's critical section for long, a start or a reload, and gives way to a stop or a newer start. */
export class LongWork {
  #holder: Holder | undefined;

  /** The epoch it is about; 0 when there is none. */
  get epoch(): number {
    return this.#holder?.epoch ?? 0;
  }

  /** The start of that epoch, if that is what goes on. */
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

  /** Makes it give way if it is about that epoch or an older one. */
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
