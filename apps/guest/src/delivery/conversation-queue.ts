/** Work in lanes: in one lane one at a time and in order, lanes beside each other. An idle lane costs nothing. */
export class ConversationQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` when everything earlier in the lane is over, however it ended. When `signal` aborts before that,
   * `work` is never run and the promise is rejected with the signal's reason at once.
   */
  run<T>(lane: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#tails.get(lane) ?? Promise.resolve();
    const { promise: expired, reject } = Promise.withResolvers<never>();
    expired.catch(() => undefined);
    const expire = (): void => reject(signal.reason);
    signal.addEventListener('abort', expire, { once: true });
    const turn = before.then(() => {
      signal.removeEventListener('abort', expire);
      signal.throwIfAborted();
      return work();
    });
    const tail = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(lane, tail);
    void tail.then(() => {
      if (this.#tails.get(lane) === tail) this.#tails.delete(lane);
    });
    return Promise.race([turn, expired]);
  }
}
