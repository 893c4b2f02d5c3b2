import { newId } from '@berth/kernel';
import type { LegacyReport, RunLegacyCommand } from '@berth/guest-protocol';
import { folderToEnter } from './enter-folder.js';
import { ExecutionProcess, type ProcessMeans } from './execution-process.js';
import { commandUnavailable } from './execution-refusals.js';
import { withOwn, type FindEnvironment } from './guest-executions.js';
import { findShell } from './shell.js';

const MAX_TIMEOUT_MS = 120_000;

/** Runs commands as older guests do: attached, without an id, both streams combined. */
export class LegacyExecutions {
  readonly #running = new Set<ExecutionProcess>();
  #closed = false;

  constructor(
    private readonly environment: FindEnvironment,
    private readonly means: ProcessMeans,
    private readonly shippedShell?: string,
  ) {}

  /** Runs a command to its end. Same errors as `GuestExecutions.execute`. */
  async execute(request: RunLegacyCommand): Promise<LegacyReport> {
    const shell = findShell(this.shippedShell);
    const environment = this.environment();
    if (shell === undefined || environment === undefined) throw commandUnavailable();
    const folder = await folderToEnter(request.cwd, shell, environment.program);
    const { pipes } = this.means;
    while (pipes.isShort) await pipes.refill();
    if (this.#closed) throw commandUnavailable();
    const process = new ExecutionProcess(
      shell,
      {
        executionId: newId('exe'),
        command: request.command,
        timeoutMs: Math.min(request.timeoutMs, MAX_TIMEOUT_MS),
        env: withOwn(environment.env, request.env),
        folder,
        merged: true,
      },
      environment.program,
      this.means,
    );
    this.#running.add(process);
    const { exitCode } = await process.over;
    this.#running.delete(process);
    const output = process.stdout.text();
    process.release();
    return { exitCode, output };
  }

  /** Ends all of them, permanently. */
  async close(graceMs?: number): Promise<void> {
    this.#closed = true;
    for (const process of this.#running) process.end('failed', graceMs);
    await Promise.all([...this.#running].map(({ over }) => over));
  }
}
