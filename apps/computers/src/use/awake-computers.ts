import { AgentClient } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/agents';
import type { OpenedTransfer } from '@berth/contracts/files';
import { runtimeRequests, type Transfer } from '@berth/contracts/runtime';
import { effectOf, isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { computerUnavailable } from '../computer/computer-lifecycle.js';
import { EnsureAwakeHandler, type UseOfComputer } from '../computer/ensure-awake.js';

/** Where a transfer was opened. */
export type OpenedAt = Required<OpenedTransfer>;

/** Calls the hosts of computers, which are woken first. */
@Injectable()
export class AwakeComputers {
  constructor(
    private readonly awake: EnsureAwakeHandler,
    private readonly client: AgentClient,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /**
   * Calls again with the next epoch if the computer has fallen asleep in between. Rethrows other errors of `call`, with an
   * `effect` that covers all calls. Errors: those of `EnsureAwakeHandler`.
   */
  async call<Response>(
    request: UseOfComputer,
    call: (computer: AwakeAgent) => Promise<Response>,
  ): Promise<Response> {
    const { commandId, accountId, actor, computerId } = request;
    const envelope = { commandId, accountId, actor };
    const awake = await this.awake.handle(request);
    return this.client.withAwakeAgent({ envelope, agentId: computerId, kind: 'computer' }, call, {
      awake,
      wakeAgain: (refusedEpoch) => this.awake.handle({ ...envelope, computerId, refusedEpoch }),
    });
  }

  /** Has the host issue a ticket for one transfer. */
  open(request: UseOfComputer, transfer: Transfer): Promise<OpenedAt> {
    return this.call(request, async ({ agentId, host, epoch }) => {
      const opened = await this.requester
        .request(runtimeRequests.openTransfer, { agentId, epoch, transfer }, { host })
        .catch((error: unknown) => {
          throw unused(error);
        });
      return { ...opened, host, epoch };
    });
  }
}

/** The host may have issued a ticket that never arrived; it expires unused, so the caller may try again. */
const unused = (error: unknown): unknown => {
  const isOutage = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
  return isOutage && effectOf(error) !== 'none'
    ? computerUnavailable('The computer cannot be reached; try again.', error)
    : error;
};
