import type { ServerWritableStream } from '@grpc/grpc-js';
import type { streams } from './protocol.js';

/** The call a reader is served on. Responses are encoded already. */
export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>;

/** Writes no faster than the caller reads, and knows when there is nobody left to write to. */
export class PacedWriter {
  #closed: boolean;
  readonly #onClose = new Set<() => void>();

  constructor(private readonly call: ReadCall) {
    this.#closed = call.cancelled;
    call.once('cancelled', () => this.#close());
    call.once('close', () => this.#close());
    call.once('finish', () => this.#close());
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** False: wait for {@link drained} before the next. */
  write(response: Buffer): boolean {
    return this.call.write(response);
  }

  /** Settles when the caller has taken what was written, or is gone. */
  drained(): Promise<void> {
    if (this.#closed || !this.call.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.call.off('drain', done);
        this.#onClose.delete(done);
        resolve();
      };
      this.call.once('drain', done);
      this.#onClose.add(done);
    });
  }

  /** Calls `listener` once when the caller is gone. Returns how to stop it. */
  onClose(listener: () => void): () => void {
    if (this.#closed) listener();
    else this.#onClose.add(listener);
    return () => this.#onClose.delete(listener);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const listener of [...this.#onClose]) listener();
    this.#onClose.clear();
  }
}
