import { createHash } from 'node:crypto';
import type { ComputerExec } from '@berth/contracts/computers';
import { executionIdOf, type ExecutionView } from '@berth/contracts/exec';
import { runtimeRequests, type ExecutionOutcome } from '@berth/contracts/runtime';
import { Clock, DomainError, effectOf, isDomainError, isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { AwakeComputers } from './awake-computers.js';
import { ComputerUseStreams } from './computer-use.streams.js';

const DEFAULT_TIMEOUT_SECONDS = 60;
/** Time in addition to the command itself: TERM and KILL by the guest, draining, and the network. */
const SLACK_MS = 15_000;

/** Runs commands of computers, attached: their results are returned and not kept. */
@Injectable()
export class RunCommandHandler {
  constructor(
    private readonly computers: AwakeComputers,
    private readonly uses: ComputerUseStreams,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** Errors: see `computersRequests.exec`. */
  async run(request: ComputerExec): Promise<ExecutionView> {
    const executionId = executionIdOf(request.commandId);
    const { command, cwd, env } = request;
    const timeoutMs = (request.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1_000;
    const outcome = await this.computers.call({ ...request, refusedEpoch: null }, async (computer) => {
      const { agentId, epoch, host } = computer;
      await this.record(request, executionId);
      const execution = { agentId, epoch, executionId, command, cwd, env, timeoutMs, wait: true };
      return this.requester
        .request(runtimeRequests.execute, execution, { host, deadlineMs: timeoutMs + SLACK_MS })
        .catch((error: unknown) => {
          throw failureOf(error, executionId);
        });
    });
    return viewOf(executionId, outcome);
  }

  /** Before the command runs, so that none runs unrecorded. */
  private async record(request: ComputerExec, executionId: string): Promise<void> {
    const { computerId, command } = request;
    const data = {
      computerId,
      executionId,
      commandBytes: Buffer.byteLength(command),
      commandSha256: createHash('sha256').update(command).digest('hex'),
      at: isoTime(this.clock.now()),
    };
    await this.uses.handle(computerId, { type: 'ComputerCommandRun', data }, request);
  }
}

const NOT_STARTED: ReadonlySet<string> = new Set([
  ...['invalid_cwd', 'invalid_command', 'guest_command_unavailable'],
  ...['stale_epoch', 'agent_not_on_host'],
]);

/** After any error that is not known to mean that it did not start, the command may have started. */
const failureOf = (error: unknown, executionId: string): unknown => {
  if (isDomainError(error, 'too_large') || effectOf(error) === 'none') return error;
  if (isDomainError(error) && NOT_STARTED.has(error.code)) return error;
  return outcomeUnknown(executionId, error);
};

const outcomeUnknown = (executionId: string, cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'execution_outcome_unknown',
    'The command may have been run, wholly or in part; its outcome is lost. Look at the computer before you run it again.',
    { executionId },
    { cause, effect: 'unknown' },
  );

const viewOf = (
  executionId: string,
  { status, exitCode, stdout, stderr }: ExecutionOutcome,
): ExecutionView => {
  if (status === 'running') throw outcomeUnknown(executionId);
  return { executionId, status, exitCode: exitCode ?? -1, stdout: stdout ?? '', stderr: stderr ?? '' };
};
