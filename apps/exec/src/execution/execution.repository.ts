import type { CommandMeta } from '@berth/event-store';
import { isDomainError, type CommandEnvelope } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { OutputVault, type Result } from '../output/output-vault.js';
import { countEnded } from './execution-metrics.js';
import type { Execution, Submission } from './execution.js';
import { ExecutionStreams } from './execution.streams.js';

/** How long to retry storing a result before its caller gets an error. */
const END_WITHIN_MS = 4_000;
const RETRY_PAUSE_MS = 200;

/** An execution and its owner. */
export interface OwnedExecution {
  readonly executionId: string;
  readonly accountId: string;
  readonly agentId: string;
}

/** The streams of executions. An execution ends in one way only: its result is stored first, then its end is appended. */
@Injectable()
export class ExecutionRepository {
  constructor(
    private readonly streams: ExecutionStreams,
    private readonly vault: OutputVault,
  ) {}

  /** The current state in the log. */
  async load(executionId: string): Promise<Execution> {
    return (await this.streams.load(executionId)).state;
  }

  /** `first` is false if the same command was submitted before. */
  async submit(
    submission: Submission,
    meta: CommandEnvelope,
  ): Promise<{ readonly first: boolean; readonly position: bigint | null }> {
    const command = { type: 'Submit', ...submission } as const;
    const { events, replayed, position } = await this.streams.handle(
      submission.executionId,
      command,
      metaOf(meta),
      { expectNew: true },
    );
    return { first: events.length > 0 && !replayed, position };
  }

  /** Returns the new state; dispatch may only continue while it is running and not to be cancelled. */
  async reroute(owned: OwnedExecution, host: string, epoch: number): Promise<Execution> {
    const command = { type: 'Reroute', host, epoch, at: now() } as const;
    const { state } = await this.streams.handle(
      owned.executionId,
      command,
      ownMeta(owned, `reroute:${String(epoch)}`),
    );
    return state;
  }

  /** Returns the position of the written event; null if the execution had already ended. */
  async refuse(owned: OwnedExecution, code: string): Promise<bigint | null> {
    const command = { type: 'Refuse', code, at: now() } as const;
    const { position } = await this.streams.handle(owned.executionId, command, ownMeta(owned, 'refuse'));
    return position;
  }

  /** Like `refuse`, but does nothing unless `attempt` is the one that the log accepted. */
  async withdraw(owned: OwnedExecution, attempt: string, code: string): Promise<bigint | null> {
    const command = { type: 'Withdraw', attempt, code, at: now() } as const;
    const meta = ownMeta(owned, `withdraw:${attempt}`);
    const { position } = await this.streams.handle(owned.executionId, command, meta);
    return position;
  }

  /** Prevents an execution that has not been accepted from ever being accepted; returns the new state. */
  async preclude(owned: OwnedExecution, code: string): Promise<Execution> {
    const { executionId, agentId } = owned;
    const command = { type: 'Preclude', executionId, agentId, code, at: now() } as const;
    const { state } = await this.streams.handle(executionId, command, ownMeta(owned, 'preclude'));
    return state;
  }

  /** Returns the new state and the position of the written event. */
  async requestCancel(
    executionId: string,
    meta: CommandEnvelope,
  ): Promise<{ readonly state: Execution; readonly position: bigint | null }> {
    return this.streams.handle(executionId, { type: 'RequestCancel', at: now() }, metaOf(meta));
  }

  /** Ends the execution with the result that was stored first, and returns that result. */
  async end(result: Result, position: bigint | null = null): Promise<Result> {
    const stored = await this.vault.keep(result, position);
    await this.appendEnd(stored);
    return stored;
  }

  /**
   * Like `end`, for a waiting caller: returns once the result is stored, because every reader looks there first. The end
   * is appended afterwards, by the reconciler if this process fails to. `position`: where the submission is in the log, so
   * that lists can wait for it. Retries for 4 s while the vault is unavailable, then throws its error.
   */
  async endInTime(result: Result, position: bigint | null = null): Promise<Result> {
    const giveUpAt = Date.now() + END_WITHIN_MS;
    for (;;) {
      try {
        const stored = await this.vault.keep(result, position);
        this.appendEnd(stored).catch(() => undefined);
        return stored;
      } catch (error) {
        if (!isDomainError(error, 'unavailable') || Date.now() + RETRY_PAUSE_MS > giveUpAt) throw error;
        await pause(RETRY_PAUSE_MS);
      }
    }
  }

  private async appendEnd(stored: Result): Promise<void> {
    const { executionId, status, exitCode, startedAt, stdout, stderr, endedAt: at } = stored;
    const sizes = { stdoutBytes: Buffer.byteLength(stdout), stderrBytes: Buffer.byteLength(stderr) };
    const command = { type: 'End', status, exitCode, startedAt, ...sizes, at } as const;
    const { events, replayed } = await this.streams.handle(executionId, command, ownMeta(stored, 'end'));
    if (events.length > 0 && !replayed) countEnded(stored);
  }
}

const metaOf = ({ commandId, accountId, actor }: CommandEnvelope): CommandMeta => ({
  commandId,
  accountId,
  actor,
});

const ownMeta = ({ executionId, accountId }: OwnedExecution, step: string): CommandMeta => ({
  commandId: `${executionId}/${step}`,
  accountId,
  actor: { kind: 'system', id: 'exec' },
});

const now = (): string => new Date().toISOString();
