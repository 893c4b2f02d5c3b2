/**
 * Delays messages until the end of the event loop's turn: the client writes everything published in one turn
 * to its socket immediately, and the system call for each message is the largest cost of a request. A queue of a library
 * would add a promise to each message, and has no batches.
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
