/** Limits concurrency; callers beyond the limit wait in order. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atATime: number) {
    this.#free = atATime;
  }

  /** Runs `work` as soon as fewer calls than the limit are running. Throws the reason of `signal` if it aborts before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settle = (): void => {
      this.#waiting.delete(begin);
      signal?.removeEventListener('abort', leave);
    };
    const begin = (): void => {
      settle();
      resolve();
    };
    const leave = (): void => {
      settle();
      reject(signal?.reason as Error);
    };
    this.#waiting.add(begin);
    signal?.addEventListener('abort', leave);
    return promise;
  }
}
