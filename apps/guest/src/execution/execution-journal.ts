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

/** Limits for finished executions. */
export interface ExecutionBounds {
  readonly entries: number;
  readonly keepMs: number;
  readonly bytes: number;
}

const DEFAULT_BOUNDS: ExecutionBounds = { entries: 1_000, keepMs: 24 * 3_600_000, bytes: 256 * 1024 * 1024 };
const NAME = /^(.+)\.json$/;
const RETRY_MS = 1_000;
/** Intermediate writes take at most 1/`SHARE` of the time. */
const SHARE = 10;

/**
 * Stores executions, one file each, always replaced as a whole. The files must survive the guest but not the machine,
 * so they are not synced to disk: after a system crash none of the processes is alive, and the host reports all of them
 * as failed.
 */
export class ExecutionJournal {
  /** Finished executions, oldest first. */
  readonly #ended = new Map<string, { readonly at: number; readonly bytes: number }>();
  /** Finished executions that could not be written to disk. */
  readonly #unwritten = new Map<string, ExecutionRecord>();
  #bytes = 0;
  #restUntil = 0;
  #retry: NodeJS.Timeout | undefined;

  private constructor(
    private readonly folder: string,
    private readonly bounds: ExecutionBounds,
  ) {}

  /**
   * Opens the journal of an earlier guest. `interrupted` lists executions that were running when it ended; they are now
   * recorded as failed.
   */
  static open(
    journalFolder: string,
    bounds: ExecutionBounds = DEFAULT_BOUNDS,
  ): { readonly journal: ExecutionJournal; readonly interrupted: readonly string[] } {
    const folder = join(journalFolder, EXECUTIONS_FOLDER);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const journal = new ExecutionJournal(folder, bounds);
    return { journal, interrupted: journal.#takeOver() };
  }

  /** Records that a command is about to be started. Throws if the write fails. */
  begin(record: ExecutionRecord): void {
    this.#write(record);
  }

  /** Records that a command is never started. Throws if the write fails. */
  preclude(record: ExecutionRecord): void {
    this.#keep(record.executionId, Date.now(), this.#write(record));
  }

  /** Reverts `begin`: the command was not started. */
  forget(executionId: string): void {
    rmSync(this.#path(executionId), { force: true });
  }

  /** Records the output so far; returns false if it is too early for another write. */
  update(record: () => ExecutionRecord): boolean {
    const began = performance.now();
    if (began < this.#restUntil) return false;
    try {
      this.#write(record());
    } catch {
      // The next write, or the final one, covers it.
    }
    const now = performance.now();
    this.#restUntil = now + (SHARE - 1) * (now - began);
    return true;
  }

  /** Records an end; if the write fails, keeps the record in memory and retries. */
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

  /** A finished execution, while it is kept. */
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
        // The next guest finds it as running and marks it as failed.
      }
    }
  }

  #writeAgain(): void {
    this.#retry = undefined;
    for (const record of this.#unwritten.values()) this.end(record);
  }

  #dropUnwritten(): void {
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > MAX_UNWRITTEN && oldest !== undefined) this.#unwritten.delete(oldest);
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
    const { entries, keepMs, bytes: maxBytes } = this.bounds;
    for (const [oldest, entry] of this.#ended) {
      const within = this.#ended.size <= entries && this.#bytes <= maxBytes;
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

/** Each record may hold two streams of maximum size. */
const MAX_UNWRITTEN = 32;

/** A record begins with its id and status, so its head is enough to skip the many finished ones. */
const HEAD_BYTES = 256;
const OVER = /^\{"executionId":"[^"]*","status":"(?:completed|timed_out|cancelled|failed)"/;

const read = (path: string): ExecutionRecord | undefined => {
  try {
    return decodeExecution(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Undefined if the record is torn or malformed. */
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
