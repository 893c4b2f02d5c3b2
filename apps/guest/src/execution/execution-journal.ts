import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  decodeExecution,
  encodeExecution,
  executionFileName,
  EXECUTIONS_FOLDER,
  type ExecutionRecord,
} from '@berth/guest-protocol';

/** What is kept of executions that are over. */
export interface ExecutionBounds {
  readonly entries: number;
  readonly keepMs: number;
  readonly bytes: number;
}

const DEFAULT_BOUNDS: ExecutionBounds = { entries: 1_000, keepMs: 24 * 3_600_000, bytes: 256 * 1024 * 1024 };
const NAME = /^(.+)\.json$/;
const RETRY_MS = 1_000;
/** Writing down what has come so far takes at most this share of the time: one part in so many. */
const SHARE = 10;

/**
 * What is known of executions, a file for each, replaced whole. The files outlive the guest, not the machine, so nothing
 * is synced to the disk: after a crash of the system no process of that time lives, and the host fails all of them.
 */
export class ExecutionJournal {
  /** Over, oldest first. */
  readonly #ended = new Map<string, { readonly at: number; readonly bytes: number }>();
  /** Over, but the disk did not take it. */
  readonly #unwritten = new Map<string, ExecutionRecord>();
  #bytes = 0;
  #restUntil = 0;
  #retry: NodeJS.Timeout | undefined;

  private constructor(
    private readonly folder: string,
    private readonly bounds: ExecutionBounds,
  ) {}

  /** Opens what another guest left. `interrupted` are those that ran when it ended: they have failed by now. */
  static open(
    journalFolder: string,
    bounds: ExecutionBounds = DEFAULT_BOUNDS,
  ): { readonly journal: ExecutionJournal; readonly interrupted: readonly string[] } {
    const folder = join(journalFolder, EXECUTIONS_FOLDER);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const journal = new ExecutionJournal(folder, bounds);
    return { journal, interrupted: journal.#takeOver() };
  }

  /** Writes down that a command is about to be started. Throws when that cannot be. */
  begin(record: ExecutionRecord): void {
    this.#write(record);
  }

  /** Takes `begin` back: it was not started. */
  forget(executionId: string): void {
    rmSync(this.#path(executionId), { force: true });
  }

  /** Writes down what has come so far; false when it is not the time for it. */
  update(record: () => ExecutionRecord): boolean {
    const began = performance.now();
    if (began < this.#restUntil) return false;
    try {
      this.#write(record());
    } catch {
      // The next one, or the end, says it again.
    }
    const now = performance.now();
    this.#restUntil = now + (SHARE - 1) * (now - began);
    return true;
  }

  /** Writes down an end; where the disk does not take it, it is kept here and tried again. */
  end(record: ExecutionRecord): void {
    try {
      const bytes = this.#write(record);
      this.#unwritten.delete(record.executionId);
      this.#keep(record.executionId, Date.now(), bytes);
    } catch {
      this.#unwritten.set(record.executionId, record);
      this.#dropUnwritten();
      this.#retry ??= setTimeout(() => this.#writeAgain(), RETRY_MS).unref();
    }
  }

  /** One that is over, as long as it is kept. */
  find(executionId: string): ExecutionRecord | undefined {
    const entry = this.#ended.get(executionId);
    if (entry === undefined) return this.#unwritten.get(executionId);
    if (Date.now() - entry.at > this.bounds.keepMs) return undefined;
    return read(this.#path(executionId));
  }

  close(): void {
    clearTimeout(this.#retry);
    for (const record of this.#unwritten.values()) {
      try {
        this.#write(record);
      } catch {
        // The next guest finds it running and fails it.
      }
    }
  }

  #writeAgain(): void {
    this.#retry = undefined;
    for (const record of this.#unwritten.values()) this.end(record);
  }

  #dropUnwritten(): void {
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > MOST_UNWRITTEN && oldest !== undefined) this.#unwritten.delete(oldest);
  }

  #takeOver(): string[] {
    const interrupted: ExecutionRecord[] = [];
    for (const { executionId, path, at, bytes } of this.#files()) {
      const head = readHead(path);
      if (head === 'over') this.#keep(executionId, at, bytes);
      else if (head === undefined) rmSync(path, { force: true });
      else interrupted.push(head);
    }
    const endedAt = new Date().toISOString();
    for (const record of interrupted) this.end({ ...record, status: 'failed', exitCode: -1, endedAt });
    return interrupted.map(({ executionId }) => executionId);
  }

  #files(): { executionId: string; path: string; at: number; bytes: number }[] {
    return readdirSync(this.folder)
      .flatMap((name) => {
        const path = join(this.folder, name);
        const executionId = NAME.exec(name)?.[1];
        if (executionId === undefined) rmSync(path, { force: true, recursive: true });
        if (executionId === undefined) return [];
        const { mtimeMs, size } = statSync(path);
        return [{ executionId, path, at: mtimeMs, bytes: size }];
      })
      .toSorted((one, other) => one.at - other.at);
  }

  #write(record: ExecutionRecord): number {
    const path = this.#path(record.executionId);
    const next = `${path}.next`;
    const bytes = Buffer.from(encodeExecution(record));
    try {
      writeFileSync(next, bytes, { mode: 0o600 });
      renameSync(next, path);
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    }
    return bytes.length;
  }

  #keep(executionId: string, at: number, bytes: number): void {
    this.#bytes += bytes - (this.#ended.get(executionId)?.bytes ?? 0);
    this.#ended.delete(executionId);
    this.#ended.set(executionId, { at, bytes });
    const { entries, keepMs, bytes: mostBytes } = this.bounds;
    for (const [oldest, entry] of this.#ended) {
      const within = this.#ended.size <= entries && this.#bytes <= mostBytes;
      if ((within && Date.now() - entry.at <= keepMs) || this.#ended.size === 1) break;
      this.#ended.delete(oldest);
      this.#bytes -= entry.bytes;
      rmSync(this.#path(oldest), { force: true });
    }
  }

  #path(executionId: string): string {
    return join(this.folder, executionFileName(executionId));
  }
}

/** Each may hold two streams of the largest size. */
const MOST_UNWRITTEN = 32;

/** A record begins with its id and how it stands: enough to pass over the many that are over. */
const HEAD_BYTES = 256;
const OVER = /^\{"executionId":"[^"]*","status":"(?:completed|timed_out|cancelled|failed)"/;

const read = (path: string): ExecutionRecord | undefined => {
  try {
    return decodeExecution(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Undefined for what is torn or not ours. */
const readHead = (path: string): ExecutionRecord | 'over' | undefined => {
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, head);
  } finally {
    closeSync(file);
  }
  if (OVER.test(head.toString('latin1'))) return 'over';
  const record = read(path);
  return record === undefined || record.status === 'running' ? record : 'over';
};
