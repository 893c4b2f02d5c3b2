import { detach } from '@berth/kernel';
/**
 * Runs work in lanes: sequentially within a lane, concurrently between lanes. An idle lane uses no memory. Queue
 * libraries have no lanes, and a guest has as few packages as possible.
 */
export class ConversationQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` once all earlier work of the lane has settled. If `signal` aborts before that, `work` never runs and
   * the promise rejects at once with the signal's reason.
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
    const forget = (): void => {
      if (this.#tails.get(lane) === tail) this.#tails.delete(lane);
    };
    detach(tail.then(forget));
    return Promise.race([turn, expired]);
  }
}
