import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import {
  encodeLogLine,
  LOG_FILE_BYTES,
  logFileName,
  newestLogFile,
  outdatedLogFiles,
  type LogLine,
} from '@berth/guest-protocol';

/** Number of pending characters above which the producer should pause. */
const SATURATED_AT = 1024 * 1024;

interface OpenFile {
  readonly handle: FileHandle;
  readonly number: number;
}

/**
 * The agent's log. Writes lines in the background, in order, to numbered files with limited size and number. The host adds
 * lines to the same files, and rotates them in the same way.
 */
export class LogWriter {
  #waiting: string[] = [];
  #waitingChars = 0;
  #writing: Promise<void> | undefined;
  #file: OpenFile | undefined;

  constructor(
    private readonly folder: string,
    private readonly fileBytes: number = LOG_FILE_BYTES,
  ) {}

  /** Adds a line with the current time. */
  add(source: LogLine['source'], level: LogLine['level'], message: string): void {
    const line = encodeLogLine({ timestamp: new Date().toISOString(), level, source, message });
    this.#waiting.push(line);
    this.#waitingChars += line.length;
    this.#writing ??= this.#writeWaiting();
  }

  get saturated(): boolean {
    return this.#waitingChars >= SATURATED_AT;
  }

  /** Resolves once everything added so far is written, or lost to a disk error. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#file?.handle.close();
    this.#file = undefined;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const chunk = Buffer.from(this.#waiting.join(''));
      this.#waiting = [];
      this.#waitingChars = 0;
      // A full disk loses log lines but must not stop the agent.
      await this.#write(chunk).catch(() => undefined);
    }
    this.#writing = undefined;
  }

  async #write(chunk: Buffer): Promise<void> {
    let file = await this.#newest();
    // The host may have written to it too.
    const { size } = await file.handle.stat();
    if (size > 0 && size + chunk.length > this.fileBytes) file = await this.#rotate(file.number + 1);
    await file.handle.appendFile(chunk);
  }

  /** The file that the host may have rotated to meanwhile: readers expect no more lines in an older one. */
  async #newest(): Promise<OpenFile> {
    const newest = newestLogFile(await readdir(this.folder));
    return this.#file === undefined || newest > this.#file.number ? this.#moveTo(newest) : this.#file;
  }

  async #rotate(number: number): Promise<OpenFile> {
    const next = await this.#moveTo(number);
    for (const name of outdatedLogFiles(await readdir(this.folder), number))
      await rm(join(this.folder, name), { force: true });
    return next;
  }

  async #moveTo(number: number): Promise<OpenFile> {
    const before = this.#file;
    const handle = await open(join(this.folder, logFileName(number)), 'a', 0o600);
    this.#file = { handle, number };
    await before?.handle.close();
    return this.#file;
  }
}
