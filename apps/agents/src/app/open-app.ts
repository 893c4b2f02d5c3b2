import { AgentClient, nothingDone } from '@berth/agent-client';
import type { OpenApp, OpenedApp } from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { runtimeRequests, type TransferTicket } from '@berth/contracts/runtime';
import { effectOf, isDomainError, stepOf } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { EnsureAwakeHandler } from '../agent/ensure-awake.js';

/** Obtains tickets for connections to the programs of agents; wakes the agents first. */
@Injectable()
export class OpenAppHandler {
  constructor(
    private readonly agents: AgentClient,
    private readonly awake: EnsureAwakeHandler,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: see `agentsRequests.openApp`. */
  async handle(open: OpenApp): Promise<OpenedApp> {
    const use = { envelope: open, agentId: open.agentId, kind: 'app' } as const;
    const wake = (staleEpoch: number | null): Promise<AwakeAgent> =>
      this.awake.handle({
        ...stepOf(open, `wake:${String(staleEpoch ?? 'first')}`),
        agentId: open.agentId,
        kind: 'app',
        refusedEpoch: staleEpoch,
      });
    return this.agents.withAwakeAgent(
      use,
      async (agent) => ({ ...(await this.ticket(agent)), host: agent.host, epoch: agent.epoch }),
      { awake: await wake(open.refusedEpoch), wakeAgain: wake },
    );
  }

  private async ticket({ agentId, host, epoch }: AwakeAgent): Promise<TransferTicket> {
    try {
      return await this.requester.request(
        runtimeRequests.openTransfer,
        { agentId, epoch, transfer: { kind: 'app' } },
        { host },
      );
    } catch (error) {
      // The host may have issued a ticket that never arrived; it expires unused, so the caller may try again.
      const isOutage = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
      if (isOutage && effectOf(error) !== 'none')
        throw nothingDone(agentId, 'cannot be reached; try again.', error);
      throw error;
    }
  }
}
