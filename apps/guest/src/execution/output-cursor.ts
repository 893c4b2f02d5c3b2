import type { OutputTail } from './output-tail.js';

const READ_BYTES = 64 * 1024;

/**
 * One reader's position in an output stream: first the retained output, then new output. A reader that falls behind the
 * retained part gets the truncation mark and continues with what is retained by then.
 */
export class OutputCursor {
  #decoder = newDecoder();
  #position = 0;

  constructor(private readonly tail: OutputTail) {}

  /** Whether there are unread bytes. */
  get behind(): boolean {
    return this.#position < this.tail.total;
  }

  /** The next output; may be empty while a character is incomplete. */
  next(): string {
    const { tail } = this;
    if (this.#position < tail.start) {
      this.#decoder = newDecoder();
      this.#position = tail.total;
      return tail.textSoFar(this.#decoder);
    }
    const bytes = tail.read(this.#position, READ_BYTES);
    this.#position += bytes.length;
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** The rest of a character that was never completed. */
  end(): string {
    return this.#decoder.decode();
  }
}

const newDecoder = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true });
