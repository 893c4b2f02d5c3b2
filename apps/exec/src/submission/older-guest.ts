import { createHash } from 'node:crypto';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { executionIdOf, type SubmitExecution, type SubmittedExecution } from '@berth/contracts/exec';
import { Injectable } from '@nestjs/common';
import { ExecutionHosts } from '../host/execution-host.js';
import { OlderExecutionStreams } from '../older-execution/older-execution.streams.js';
import { guestCommandUnavailable, outcomeUnknown } from './refusals.js';
import { isCallersFault, judgeFailure } from './sending.js';
import { Wake } from './wake.js';

const DEFAULT_SECONDS = 60;
const CAP_SECONDS = 120;
const MAX_REFUSALS = 5;

/** Runs commands in older guests: attached only, without an id or a stored result. */
@Injectable()
export class OlderGuest {
  constructor(
    private readonly hosts: ExecutionHosts,
    private readonly wake: Wake,
    private readonly executions: OlderExecutionStreams,
  ) {}

  /** Errors: those of `submit`; upstream `execution_outcome_unknown` has no id. */
  async run(submit: SubmitExecution, first: AwakeAgent): Promise<SubmittedExecution> {
    const { agentId, command, cwd, env } = submit;
    const timeoutMs = Math.min(submit.timeoutSeconds ?? DEFAULT_SECONDS, CAP_SECONDS) * 1000;
    await this.record(submit);
    let awake = first;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      const { host, epoch } = awake;
      try {
        const request = { agentId, epoch, command, cwd, env, timeoutMs };
        const { exitCode, output } = await this.hosts.executeLegacy(host, request);
        return { kind: 'legacy', exitCode, stdout: output };
      } catch (error) {
        const failure = judgeFailure(error);
        // Such a guest would run a repeated command twice, so it is sent again only if it certainly did not start.
        if (failure === 'unknown') throw outcomeUnknown(null, error);
        if (failure !== 'elsewhere') throw isCallersFault(error) ? error : guestCommandUnavailable(error);
      }
      awake = await this.wake.forCommand(submit, agentId, epoch);
    }
    throw guestCommandUnavailable();
  }

  /** Nothing is sent earlier, so after an error the command certainly did not start. */
  private async record(submit: SubmitExecution): Promise<void> {
    const { commandId, agentId, accountId, actor, command } = submit;
    const executionId = executionIdOf(commandId);
    const submission = {
      executionId,
      agentId,
      commandBytes: Buffer.byteLength(command),
      commandSha256: createHash('sha256').update(command).digest('hex'),
      at: new Date().toISOString(),
    };
    try {
      await this.executions.handle(
        executionId,
        submission,
        { commandId, accountId, actor },
        { expectNew: true },
      );
    } catch (error) {
      throw guestCommandUnavailable(error);
    }
  }
}
