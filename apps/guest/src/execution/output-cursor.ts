import { CUT_MARK } from '@berth/guest-protocol';
import { characters, withoutFirst } from './last-characters.js';
import type { OutputTail } from './output-tail.js';

const READ_BYTES = 64 * 1024;

/**
 * One reader's position in an output stream: first the retained output, then new output. A reader that falls behind the
 * retained part gets the truncation mark and continues with what is retained by then. It holds no more than it has just
 * read, because there may be many readers that are slow.
 */
export class OutputCursor {
  #decoder = newDecoder();
  #position = 0;
  /** Number of the next characters that are not shown. */
  #skipped = 0;

  constructor(private readonly tail: OutputTail) {}

  /** Whether there are unread bytes. */
  get behind(): boolean {
    return this.#position < this.tail.total;
  }

  /** The next output; may be empty while a character is incomplete. */
  next(): string {
    const isCut = this.#position < this.tail.start;
    if (isCut) this.#catchUp();
    return (isCut ? CUT_MARK : '') + this.#read();
  }

  /** The rest of a character that was never completed. */
  end(): string {
    return this.#decoder.decode();
  }

  #catchUp(): void {
    const { tail } = this;
    this.#skipped = 0;
    this.#goTo(tail.firstCharacter);
    let count = 0;
    while (this.behind) count += characters(this.#read());
    this.#goTo(tail.firstCharacter);
    this.#skipped = Math.max(0, count - tail.kept);
  }

  #goTo(position: number): void {
    this.#decoder = newDecoder();
    this.#position = position;
  }

  #read(): string {
    const bytes = this.tail.read(this.#position, READ_BYTES);
    this.#position += bytes.length;
    const text = this.#decoder.decode(bytes, { stream: true });
    if (this.#skipped === 0) return text;
    const shown = withoutFirst(text, this.#skipped);
    this.#skipped -= Math.min(this.#skipped, characters(text));
    return shown;
  }
}

const newDecoder = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true });
