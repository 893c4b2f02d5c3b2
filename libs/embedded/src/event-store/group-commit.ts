import type { DatabaseSync } from 'node:sqlite';
import { outOfSpace } from './errors.js';
import type { CommitSignal } from './commit-signal.js';
import type { LogWriter, WriteOutcome, WriteRequest } from './log-writer.js';

const GROUP_REQUESTS = 1_000;
const GROUP_BYTES = 16 * 1_048_576;

interface Waiting {
  readonly request: WriteRequest;
  readonly bytes: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes requests in order, many per transaction: requests that arrive during a flush go into the next one. A request
 * gets its response only after its transaction is on disk. A refused request does not affect the others.
 */
export class GroupCommit {
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  #groups = 0;

  constructor(
    private readonly db: DatabaseSync,
    private readonly writer: LogWriter,
    private readonly signal: CommitSignal,
    private readonly hasRoom: () => boolean = () => true,
  ) {}

  /** How many transactions were committed since the start. */
  get groups(): number {
    return this.#groups;
  }

  /** Rejects with `outOfSpace` when the disk has no room, and when it failed: then the write may have happened. */
  submit(request: WriteRequest): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, bytes: requestBytes(request), resolve, reject });
      this.#schedule();
    });
  }

  /** Writes all waiting requests at once. */
  flushAll(): void {
    while (this.#waiting.length > 0) this.#flushGroup();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // setImmediate runs after the sockets were read, so everything that arrived during the last flush is in the queue
    // by then.
    setImmediate(() => {
      this.#scheduled = false;
      this.#flushGroup();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #flushGroup(): void {
    const group = this.#takeGroup();
    if (group.length === 0) return;
    const touched = new Set<string>();
    let outcomes: WriteOutcome[];
    try {
      outcomes = this.#commit(group, touched);
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    this.#groups += 1;
    group.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) reject(new Error('a write got no outcome'));
      else resolve(outcome);
    });
    this.signal.announce(touched);
  }

  #commit(group: readonly Waiting[], touched: Set<string>): WriteOutcome[] {
    if (!this.hasRoom()) throw outOfSpace();
    this.db.exec('BEGIN IMMEDIATE');
    this.writer.begin();
    try {
      // Each request is decided before it writes, so within the transaction it is executed completely or not at all.
      const outcomes = group.map(({ request }) => this.writer.apply(request, touched));
      this.db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      this.writer.forgetUncommitted();
      throw isFull(error) ? outOfSpace() : error;
    }
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { bytes: next } of this.#waiting) {
      if (count > 0 && (count >= GROUP_REQUESTS || bytes + next > GROUP_BYTES)) break;
      bytes += next;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}

/** SQLITE_FULL and SQLITE_IOERR_SHMSIZE: nothing of the transaction, which is rolled back, is in the file. */
const FULL: readonly unknown[] = [13, 4874];

function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && FULL.includes(error.errcode);
}

function requestBytes(request: WriteRequest): number {
  if (request.kind !== 'append') return 0;
  return request.events.reduce((sum, event) => sum + event.data.length + event.metadata.length, 0);
}
