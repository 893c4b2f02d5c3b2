import type { ServerWritableStream } from '@grpc/grpc-js';
import type { streams } from './protocol.js';

/** The call that serves a reader. Its responses are already encoded. */
export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>;

/* Counted in bytes, because the sixteen objects that a stream buffers by default may be sixteen megabytes. */
const UNSENT_BYTES = 262_144;

/** Writes no faster than the caller reads, and detects that the caller is gone. */
export class PacedWriter {
  #closed: boolean;
  #unsent = 0;
  #wake: (() => void) | undefined;
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

  /** If it returns false, wait for {@link drained} before the next write. */
  write(response: Buffer): boolean {
    const size = response.length;
    this.#unsent += size;
    this.call.write(response, () => {
      this.#unsent -= size;
      if (this.#unsent < UNSENT_BYTES) this.#wake?.();
    });
    return this.#unsent < UNSENT_BYTES;
  }

  /** Resolves when the caller has read most of what was written, or is gone. */
  async drained(): Promise<void> {
    if (this.#closed || this.#unsent < UNSENT_BYTES) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Calls `listener` once when the caller is gone. Returns a function that stops it. */
  onClose(listener: () => void): () => void {
    if (this.#closed) listener();
    else this.#onClose.add(listener);
    return () => this.#onClose.delete(listener);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    for (const listener of [...this.#onClose]) listener();
    this.#onClose.clear();
  }
}
