/**
 * Holds back what is sent until the end of the event loop's turn: the client writes what was published in one turn
 * to its socket at once, and a system call for each message is what a request costs most.
 */
export class SendQueue {
  #waiting: (() => void)[] = [];

  /** `send` must not throw. */
  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends what waits, now and in order. */
  flush(): void {
    const sends = this.#waiting;
    this.#waiting = [];
    for (const send of sends) send();
  }
}
