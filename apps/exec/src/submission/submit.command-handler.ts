import { executionIdOf, type SubmitExecution, type SubmittedExecution } from '@berth/contracts/exec';
import { ServiceContext } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import type { OwnedExecution } from '../execution/execution.repository.js';
import { FollowedExecutions } from '../execution/followed-executions.js';
import { unlessStopping } from '../execution/unless-stopping.js';
import { EarlierSubmission } from './earlier-submission.js';
import { ExecutionSubmission } from './execution-submission.js';
import { OlderGuest } from './older-guest.js';
import { retryElsewhere, detachedUnsupported, outcomeUnknown } from './refusals.js';
import { supportsExecutions, Wake } from './wake.js';

/** Runs a command in an agent; wakes the agent first. */
@Injectable()
export class SubmitCommandHandler {
  constructor(
    private readonly wake: Wake,
    private readonly olderGuest: OlderGuest,
    private readonly earlier: EarlierSubmission,
    private readonly submission: ExecutionSubmission,
    private readonly followed: FollowedExecutions,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  /** Errors: see `execRequests`. */
  async handle(submit: SubmitExecution): Promise<SubmittedExecution> {
    const { accountId, agentId, commandId, repeated } = submit;
    const owned = { executionId: executionIdOf(commandId), accountId, agentId };
    if (!repeated) return this.submit(submit, owned);
    return this.earlier.orElse(submit, owned, () => this.submit(submit, owned));
  }

  private async submit(submit: SubmitExecution, owned: OwnedExecution): Promise<SubmittedExecution> {
    const { wake, olderGuest, followed } = this;
    const { agentId, detached } = submit;
    if (detached && (await wake.isKnownAsOld(submit, agentId))) throw detachedUnsupported();
    const awake = await wake.forCommand(submit, agentId, null);
    if (!supportsExecutions(awake.guest)) {
      if (detached) throw detachedUnsupported();
      // Older guests have no journal, so it is unknown whether the earlier attempt ran.
      if (submit.repeated) throw outcomeUnknown(null);
      return olderGuest.run(submit, awake);
    }
    const running = this.submission.run(submit, owned, awake);
    // The caller then queries another process by the execution's id.
    const execution = await unlessStopping(this.service.stopping, running, () =>
      Promise.reject(retryElsewhere()),
    );
    if (execution.status === 'running') followed.begin(awake.host, owned);
    return { kind: 'execution', execution };
  }
}
