import type { ExecutionRecord, ExecutionReport } from '@berth/guest-protocol';
import type { ExecutionJournal } from './execution-journal.js';
import type { EndCause, Ending, ExecutionProcess } from './execution-process.js';
import { startTimer } from './long-timer.js';

/** Minimum interval between intermediate writes. */
const WRITE_EVERY_MS = 1_000;
/** Retry interval of a write that the journal postponed because many executions write. */
const TURN_MS = 100;

/** The record that is written before a command is started. */
export const newRecord = (executionId: string): ExecutionRecord => ({
  executionId,
  status: 'running',
  exitCode: null,
  stdout: '',
  stderr: '',
  startedAt: new Date().toISOString(),
  endedAt: null,
});

/** An execution from its start to its end, and afterwards while a client still reads its output. */
export class RunningExecution {
  /** Resolves once the end is recorded. */
  readonly ended: Promise<ExecutionRecord>;
  readonly #process: ExecutionProcess;
  readonly #listeners = new Set<() => void>();
  #writing: NodeJS.Timeout | undefined;
  #isOver = false;

  /** Rethrows the errors of `start`. */
  constructor(
    private readonly begun: ExecutionRecord,
    private readonly journal: ExecutionJournal,
    start: (onOutput: () => void) => ExecutionProcess,
  ) {
    this.#process = start(() => this.#onOutput());
    this.ended = this.#process.over.then((ending) => this.#end(ending));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get stdout(): ExecutionProcess['stdout'] {
    return this.#process.stdout;
  }

  get stderr(): ExecutionProcess['stderr'] {
    return this.#process.stderr;
  }

  /** The report at the end, or after `waitMs`. */
  async report(waitMs: number): Promise<ExecutionReport> {
    if (waitMs === 0 && !this.#isOver) return this.#runningReport();
    const late = Promise.withResolvers<undefined>();
    const stopTimer = startTimer(waitMs, () => late.resolve(undefined));
    const record = await Promise.race([this.ended, late.promise]);
    stopTimer();
    return record ?? this.#runningReport();
  }

  /** Ends it if it is running; resolves with its final record. */
  end(cause: EndCause, graceMs?: number): Promise<ExecutionRecord> {
    this.#process.end(cause, graceMs);
    return this.ended;
  }

  /** Calls `listener` on new output and at the end. Returns a function that unsubscribes. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#releaseUnread();
    };
  }

  #releaseUnread(): void {
    if (this.#isOver && this.#listeners.size === 0) this.#process.release();
  }

  #runningReport(): ExecutionReport {
    return { ...this.begun, stdout: null, stderr: null };
  }

  #onOutput(): void {
    this.#writing ??= setTimeout(() => this.#write(), WRITE_EVERY_MS);
    for (const listener of this.#listeners) listener();
  }

  #write(): void {
    const isWritten = this.journal.update(() => this.#withOutput(this.begun));
    this.#writing = isWritten ? undefined : setTimeout(() => this.#write(), TURN_MS);
  }

  #end(ending: Ending): ExecutionRecord {
    clearTimeout(this.#writing);
    this.#isOver = true;
    const record = this.#withOutput({ ...this.begun, ...ending, endedAt: new Date().toISOString() });
    this.journal.end(record);
    for (const listener of this.#listeners) listener();
    this.#releaseUnread();
    return record;
  }

  #withOutput(record: ExecutionRecord): ExecutionRecord {
    return { ...record, stdout: this.stdout.text(), stderr: this.stderr.text() };
  }
}
