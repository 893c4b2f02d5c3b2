import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync, rmSync } from 'node:fs';

const LIMIT_BYTES = 5 * 1024 * 1024;
const CHECK_EVERY_MS = 5000;
const TAIL_BYTES = 2000;

/**
 * A log file that children write to directly, through a descriptor opened for appending: no pipe of ours can block
 * them, or break when this process dies. A file that exceeds the limit (5 MiB by default, checked every 5 s) is copied
 * to `<path>.1` and truncated, so the log never consists of more than two files. Lines written between copy and
 * truncation are lost, and all of them if the disk has no room for the copy.
 */
export class BoundedLog {
  readonly fd: number;
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly path: string,
    readonly limitBytes: number = LIMIT_BYTES,
  ) {
    this.fd = openSync(path, 'a+', 0o600);
    this.#timer = setInterval(() => this.trim(), CHECK_EVERY_MS).unref();
    this.trim();
  }

  /** Copies the file to `<path>.1` and truncates it, if it exceeds the limit. */
  trim(): void {
    if (fstatSync(this.fd).size <= this.limitBytes) return;
    try {
      copyFileSync(this.path, `${this.path}.1`);
    } catch {
      rmSync(`${this.path}.1`, { force: true });
    }
    ftruncateSync(this.fd, 0);
  }

  /** The end of the file, at most 2000 bytes, for the error about a part that did not start. */
  tail(): string {
    const size = fstatSync(this.fd).size;
    const from = Math.max(0, size - TAIL_BYTES);
    const buffer = Buffer.alloc(size - from);
    const read = readSync(this.fd, buffer, 0, buffer.length, from);
    return buffer.subarray(0, read).toString('utf8').trim();
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.fd);
  }
}
