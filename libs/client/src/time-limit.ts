import { ServiceConnectionError } from './errors.js';

/** Timers of the runtime overflow beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends a call when its time is over, or when its caller does. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #end: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `ms` from now on; `caller` is the signal of the caller. */
  constructor(ms: number, caller?: AbortSignal) {
    this.#caller = caller;
    this.#end = performance.now() + ms;
    if (caller?.aborted === true) this.#abortedByCaller();
    else caller?.addEventListener('abort', this.#abortedByCaller);
    this.restart(ms);
  }

  /** Aborted with what the call is to reject with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds until the end of the first period. */
  get remaining(): number {
    return this.#end - performance.now();
  }

  readonly #abortedByCaller = (): void => this.abort(this.#caller?.reason);

  /** Ends the call with this reason. */
  abort(reason: unknown): void {
    this.pause();
    this.#controller.abort(reason);
  }

  /** Begins a new period: of silence, for a stream. */
  restart(ms: number): void {
    this.pause();
    if (ms > LONGEST_TIMER_MS || this.signal.aborted) return;
    this.#timer = setTimeout(() => this.abort(timeoutError(ms)), ms);
  }

  /** Nothing is waited for. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** The outcome of `work`, or the reason of the end if that comes first. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let ended: (() => void) | undefined;
    const end = new Promise<never>((_, reject) => {
      ended = () => reject(signal.reason);
      if (signal.aborted) ended();
      else signal.addEventListener('abort', ended);
    });
    try {
      return await Promise.race([work, end]);
    } finally {
      if (ended !== undefined) signal.removeEventListener('abort', ended);
    }
  }

  /** Waits. */
  async sleep(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.within(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Releases what it holds; must be called. */
  close(): void {
    this.pause();
    this.#caller?.removeEventListener('abort', this.#abortedByCaller);
  }
}

/** The error of a call that took too long. */
export const timeoutError = (ms: number): ServiceConnectionError => {
  const message = `There was no whole answer within ${ms / 1_000} s.`;
  return new ServiceConnectionError(message, 'timeout', new DOMException(message, 'TimeoutError'));
};
