import type { OutputTail } from './output-tail.js';

const READ_BYTES = 64 * 1024;

/**
 * One reader's place in a stream of output. First comes what is retained, then what is new. A reader that is overtaken
 * gets the mark of a cut stream and goes on with what is retained by then.
 */
export class OutputCursor {
  #decoder = newDecoder();
  #position = 0;

  constructor(private readonly tail: OutputTail) {}

  /** Whether there are bytes that were not read. */
  get behind(): boolean {
    return this.#position < this.tail.total;
  }

  /** What comes next; may be empty while a character is incomplete. */
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

  /** What is left of a character that was never completed. */
  end(): string {
    return this.#decoder.decode();
  }
}

const newDecoder = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true });
