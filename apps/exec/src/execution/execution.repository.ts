import { Injectable } from '@nestjs/common';
import type { CommandMeta } from '@berth/event-store';
import { isDomainError, type CommandEnvelope } from '@berth/kernel';
import { pause } from '@berth/persistence';
import { OutputVault, type Result } from '../output/output-vault.js';
import { ExecutionStreams } from './execution.streams.js';
import { countEnded } from './execution-metrics.js';
import type { Execution, Submission } from './execution.js';

/** How long the vault may be away after a command's end before its caller is told that they are. */
const END_WITHIN_MS = 4_000;
const TRY_AGAIN_MS = 200;

/** Which execution of whose. */
export interface Owned {
  readonly executionId: string;
  readonly accountId: string;
  readonly agentId: string;
}

/** The streams of executions, and the one way in which they end: the result is kept first, then the log says so. */
@Injectable()
export class ExecutionRepository {
  constructor(
    private readonly streams: ExecutionStreams,
    private readonly vault: OutputVault,
  ) {}

  /** What the log says now. */
  async load(executionId: string): Promise<Execution> {
    return (await this.streams.load(executionId)).state;
  }

  /** `first` is false when the same command was sent before. */
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

  /** Answers the state after it: the hand-over goes on only while it runs and nobody wants it cancelled. */
  async reroute(owned: Owned, host: string, epoch: number): Promise<Execution> {
    const command = { type: 'Reroute', host, epoch, at: now() } as const;
    const { state } = await this.streams.handle(
      owned.executionId,
      command,
      ownMeta(owned, `reroute:${String(epoch)}`),
    );
    return state;
  }

  /** Answers the position of what was written; null when it had ended before. */
  async refuse(owned: Owned, code: string): Promise<bigint | null> {
    const command = { type: 'Refuse', code, at: now() } as const;
    const { position } = await this.streams.handle(owned.executionId, command, ownMeta(owned, 'refuse'));
    return position;
  }

  /** Like `refuse`, but does nothing unless the log says that `attempt` was accepted. */
  async withdraw(owned: Owned, attempt: string, code: string): Promise<bigint | null> {
    const command = { type: 'Withdraw', attempt, code, at: now() } as const;
    const meta = ownMeta(owned, `withdraw:${attempt}`);
    const { position } = await this.streams.handle(owned.executionId, command, meta);
    return position;
  }

  /** Sees to it that it is not accepted any more if it has not been yet; answers the state after it. */
  async preclude(owned: Owned, code: string): Promise<Execution> {
    const { executionId, agentId } = owned;
    const command = { type: 'Preclude', executionId, agentId, code, at: now() } as const;
    const { state } = await this.streams.handle(executionId, command, ownMeta(owned, 'preclude'));
    return state;
  }

  /** Answers the state after it, and the position of what was written. */
  async requestCancel(
    executionId: string,
    meta: CommandEnvelope,
  ): Promise<{ readonly state: Execution; readonly position: bigint | null }> {
    return this.streams.handle(executionId, { type: 'RequestCancel', at: now() }, metaOf(meta));
  }

  /** Ends it with the first result that was kept, and answers that one. */
  async end(result: Result, position: bigint | null = null): Promise<Result> {
    const stands = await this.vault.keep(result, position);
    await this.say(stands);
    return stands;
  }

  /**
   * As `end`, while somebody waits: answers once the result is kept, because whoever reads it later looks there first; the
   * log is told behind the answer, by the reconciler if need be. `position` is what the list must know to show it. An
   * outage is waited out for 4 s, then its error is thrown.
   */
  async endInTime(result: Result, position: bigint | null = null): Promise<Result> {
    const giveUpAt = Date.now() + END_WITHIN_MS;
    for (;;) {
      try {
        const stands = await this.vault.keep(result, position);
        this.say(stands).catch(() => undefined);
        return stands;
      } catch (error) {
        if (!isDomainError(error, 'unavailable') || Date.now() + TRY_AGAIN_MS > giveUpAt) throw error;
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  private async say(stands: Result): Promise<void> {
    const { executionId, status, exitCode, startedAt, stdout, stderr, endedAt: at } = stands;
    const sizes = { stdoutBytes: Buffer.byteLength(stdout), stderrBytes: Buffer.byteLength(stderr) };
    const command = { type: 'End', status, exitCode, startedAt, ...sizes, at } as const;
    const { events, replayed } = await this.streams.handle(executionId, command, ownMeta(stands, 'end'));
    if (events.length > 0 && !replayed) countEnded(stands);
  }
}

const metaOf = ({ commandId, accountId, actor }: CommandEnvelope): CommandMeta => ({
  commandId,
  accountId,
  actor,
});

const ownMeta = ({ executionId, accountId }: Owned, step: string): CommandMeta => ({
  commandId: `${executionId}/${step}`,
  accountId,
  actor: { kind: 'system', id: 'exec' },
});

const now = (): string => new Date().toISOString();
