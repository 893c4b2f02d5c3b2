import { detach } from '@berth/kernel';
import type {
  ExecutionRecord,
  ExecutionReport,
  PrecludedExecution,
  PutProgram,
  RunCommand,
} from '@berth/guest-protocol';
import { folderToEnter } from './enter-folder.js';
import type { ExecutionJournal } from './execution-journal.js';
import { ExecutionProcess, type ProcessMeans } from './execution-process.js';
import { commandUnavailable, executionUnknown } from './execution-refusals.js';
import { newRecord, RunningExecution } from './running-execution.js';
import { findShell, type Shell } from './shell.js';

/** The context for commands: the current program, and the environment of its processes. */
export interface ExecutionEnvironment {
  readonly program: Pick<PutProgram, 'volume' | 'runAs'>;
  readonly env: Readonly<Record<string, string>>;
}

/** Returns undefined until the guest has received its agent. */
export type FindEnvironment = () => ExecutionEnvironment | undefined;

/**
 * Runs commands. Each id runs once: a known id joins the running execution or returns its result, even one from an
 * earlier guest. A disconnecting caller cancels nothing.
 */
export class GuestExecutions {
  readonly #running = new Map<string, RunningExecution>();
  /** Commands whose start is being prepared. */
  readonly #starting = new Set<string>();
  #accepts: 'all' | 'paused' | 'none' = 'all';

  constructor(
    private readonly journal: ExecutionJournal,
    private readonly environment: FindEnvironment,
    private readonly means: ProcessMeans,
    private readonly shippedShell?: string,
  ) {}

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /**
   * Starts a command and returns its report after `waitMs` or at its end. Errors, with nothing started: invalid
   * `invalid_cwd`, `invalid_command`; unavailable `guest_command_unavailable`.
   */
  async execute(command: RunCommand): Promise<ExecutionReport> {
    const { executionId, cwd, waitMs } = command;
    const existing = this.#find(executionId, waitMs);
    if (existing !== undefined) return existing;
    const { shell, environment } = this.#ready();
    this.#starting.add(executionId);
    try {
      const folder = cwd === null ? null : await folderToEnter(cwd, shell, environment.program);
      const { pipes } = this.means;
      while (pipes.isShort) await pipes.refill();
      return await (this.#find(executionId, waitMs) ?? this.#start(command, folder).report(waitMs));
    } finally {
      this.#starting.delete(executionId);
    }
  }

  /** The report after `waitMs` or at the end. Errors: not_found `execution_unknown`. */
  async find(executionId: string, waitMs: number): Promise<ExecutionReport> {
    const existing = this.#find(executionId, waitMs);
    if (existing === undefined) throw executionUnknown();
    return existing;
  }

  /** Ends the execution; a finished one is unchanged. Errors: not_found `execution_unknown`. */
  async cancel(executionId: string): Promise<ExecutionReport> {
    return this.#running.get(executionId)?.end('cancelled') ?? this.find(executionId, 0);
  }

  /** See `GUEST_ROUTES.precludeExecution`. Synchronous, so that no start comes between the check and the record. */
  preclude(executionId: string): PrecludedExecution {
    if (this.#running.has(executionId) || this.#starting.has(executionId)) return { started: true };
    const record = this.journal.find(executionId);
    if (record !== undefined) return { started: record.neverStarted !== true };
    const { startedAt: endedAt, ...fresh } = newRecord(executionId);
    const ended = { status: 'failed', exitCode: -1, startedAt: endedAt, endedAt } as const;
    try {
      this.journal.preclude({ ...fresh, ...ended, neverStarted: true });
    } catch (error) {
      throw commandUnavailable(error);
    }
    return { started: false };
  }

  /**
   * The source of the execution's output: the running execution, or the record of a finished one. Errors: not_found
   * `execution_unknown`.
   */
  output(executionId: string): RunningExecution | ExecutionRecord {
    const existing = this.#running.get(executionId) ?? this.journal.find(executionId);
    if (existing === undefined) throw executionUnknown();
    return existing;
  }

  /** Ends all as `failed`; nothing new starts until `acceptAgain`. */
  async failAll(graceMs?: number): Promise<void> {
    if (this.#accepts === 'all') this.#accepts = 'paused';
    await Promise.all([...this.#running.values()].map((execution) => execution.end('failed', graceMs)));
  }

  acceptAgain(): void {
    if (this.#accepts === 'paused') this.#accepts = 'all';
  }

  /** Like `failAll`, permanently. */
  async close(graceMs?: number): Promise<void> {
    this.#accepts = 'none';
    await this.failAll(graceMs);
    this.journal.close();
  }

  #find(executionId: string, waitMs: number): Promise<ExecutionReport> | undefined {
    const running = this.#running.get(executionId);
    if (running !== undefined) return running.report(waitMs);
    const record = this.journal.find(executionId);
    return record && Promise.resolve(record);
  }

  #ready(): { readonly shell: Shell; readonly environment: ExecutionEnvironment } {
    const shell = findShell(this.shippedShell);
    const environment = this.environment();
    if (this.#accepts !== 'all' || shell === undefined || environment === undefined)
      throw commandUnavailable();
    return { shell, environment };
  }

  /** Runs synchronously, so that nothing can happen between the check and the start. */
  #start(command: RunCommand, folder: string | null): RunningExecution {
    const { shell, environment } = this.#ready();
    const { executionId } = command;
    const record = newRecord(executionId);
    try {
      this.journal.begin(record);
    } catch (error) {
      throw commandUnavailable(error);
    }
    try {
      const task = { ...command, folder, merged: false, env: withOwn(environment.env, command.env) };
      const execution = new RunningExecution(
        record,
        this.journal,
        (onOutput) => new ExecutionProcess(shell, task, environment.program, this.means, onOutput),
      );
      this.#running.set(executionId, execution);
      detach(execution.ended.then(() => this.#running.delete(executionId)));
      return execution;
    } catch (error) {
      this.journal.forget(executionId);
      throw error;
    }
  }
}

/** A command's own variables override the program's, except names that begin with `BERTH_`. */
export const withOwn = (
  env: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const allowed = Object.entries(own).filter(([name]) => !name.startsWith('BERTH_'));
  return allowed.length === 0 ? env : { ...env, ...Object.fromEntries(allowed) };
};
