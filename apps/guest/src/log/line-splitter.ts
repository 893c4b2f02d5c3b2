import { StringDecoder } from 'node:string_decoder';

/** Maximum length of a log line in UTF-16 units; longer lines are truncated. */
export const MAX_LINE_UNITS = 16 * 1024;

const CUT_MARK = ' [line cut]';

/** Splits a byte stream into lines, with bounded memory for any input. Invalid UTF-8 becomes U+FFFD. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #cut = false;

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    this.#take(this.#decoder.write(chunk));
  }

  /** Ends the stream; a remainder without a newline counts as a line. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#line !== '') this.#emit();
  }

  #take(text: string): void {
    let from = 0;
    for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', from)) {
      this.#grow(text.slice(from, newline));
      this.#emit();
      from = newline + 1;
    }
    this.#grow(text.slice(from));
  }

  #grow(part: string): void {
    const room = MAX_LINE_UNITS - this.#line.length;
    if (part.length > room) this.#cut = true;
    this.#line += part.slice(0, room);
  }

  #emit(): void {
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    const whole = this.#cut ? `${line}${CUT_MARK}` : line;
    this.#line = '';
    this.#cut = false;
    if (whole.trim() !== '') this.onLine(whole);
  }
}
