/**
 * Delays messages until the end of the event loop's turn, so that the client writes them to its socket together: a
 * system call for each message would be the largest cost of a request. The queues of libraries add a promise to each
 * message and do not batch.
 */
export class SendQueue {
  #waiting: (() => void)[] = [];

  /** `send` must not throw. */
  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends the waiting messages now, in order. */
  flush(): void {
    const sends = this.#waiting;
    this.#waiting = [];
    for (const send of sends) send();
  }
}
