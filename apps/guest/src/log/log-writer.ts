import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import {
  encodeLogLine,
  LOG_FILE_BYTES,
  LOG_FILES,
  logFileName,
  logFileNumber,
  newestLogFile,
  type LogLine,
} from '@berth/guest-protocol';

/** Number of pending characters above which the producer should pause. */
const SATURATED_AT = 1024 * 1024;

/** The agent's log. Writes lines in the background, in order, to numbered files with limited size and number. */
export class LogWriter {
  #waiting: string[] = [];
  #waitingChars = 0;
  #writing: Promise<void> | undefined;
  #file: { handle: FileHandle; number: number; bytes: number } | undefined;

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
    let file = (this.#file ??= await this.#openNewest());
    if (file.bytes > 0 && file.bytes + chunk.length > this.fileBytes) file = await this.#openNext(file);
    await file.handle.appendFile(chunk);
    file.bytes += chunk.length;
  }

  async #openNewest(): Promise<{ handle: FileHandle; number: number; bytes: number }> {
    return this.#open(newestLogFile(await readdir(this.folder)));
  }

  async #openNext(full: { handle: FileHandle; number: number }): Promise<{
    handle: FileHandle;
    number: number;
    bytes: number;
  }> {
    const next = await this.#open(full.number + 1);
    this.#file = next;
    await full.handle.close();
    for (const name of await readdir(this.folder)) {
      const number = logFileNumber(name);
      if (number !== undefined && number <= next.number - LOG_FILES)
        await rm(join(this.folder, name), { force: true });
    }
    return next;
  }

  async #open(number: number): Promise<{ handle: FileHandle; number: number; bytes: number }> {
    const handle = await open(join(this.folder, logFileName(number)), 'a', 0o600);
    return { handle, number, bytes: (await handle.stat()).size };
  }
}
