import { StringDecoder } from 'node:string_decoder';
import type { SystemLog } from '../logs/system-log.js';

/** The most characters of output that the log of one build holds. */
const MAX_CHARS = 4 * 1024 * 1024;
/** The most characters of one entry; a longer line is split. */
const LINE_CHARS = 16 * 1024;
/** The most lines of one write. */
const BATCH = 500;

/** Writes the lines of one build to the log of its agent, in the background and in order. */
export class BuildLog {
  #left = MAX_CHARS;
  #waiting: { readonly level: 'info' | 'error'; readonly message: string }[] = [];
  #writing: Promise<void> | undefined;
  readonly #decoder = new StringDecoder('utf8');
  #line = '';

  constructor(
    private readonly agentId: string,
    private readonly log: Pick<SystemLog, 'addBuild'>,
  ) {}

  add(level: 'info' | 'error', message: string): void {
    this.#waiting.push({ level, message });
    this.#writing ??= this.#writeWaiting();
  }

  /** Adds a piece of a command's output. */
  addOutput(chunk: Buffer): void {
    if (this.#left <= 0) return;
    const text = this.#line + this.#decoder.write(chunk);
    // The second half of a line ending may be in the next chunk.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    this.#line = (lines.pop() ?? '') + held;
    for (const line of lines) this.#addLine(line);
    if (this.#line.length > LINE_CHARS) this.#endLine();
  }

  /** Resolves once everything is written. */
  async flush(): Promise<void> {
    this.#endLine();
    while (this.#writing !== undefined) await this.#writing;
  }

  #endLine(): void {
    const line = (this.#line + this.#decoder.end()).replace(/\r$/, '');
    this.#line = '';
    if (line !== '') this.#addLine(line);
  }

  #addLine(line: string): void {
    if (this.#left <= 0) return;
    this.#left -= line.length + 1;
    for (let from = 0; from < line.length; from += LINE_CHARS)
      this.add('info', line.slice(from, from + LINE_CHARS));
    if (this.#left <= 0)
      this.add('error', 'The output exceeds what the log of a build holds; the rest is dropped.');
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) await this.log.addBuild(this.agentId, this.#waiting.splice(0, BATCH));
    this.#writing = undefined;
  }
}
