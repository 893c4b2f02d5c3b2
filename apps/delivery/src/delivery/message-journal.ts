import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type FoundDelivery } from '@berth/contracts/runtime';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** A message with its agent and its account. */
export interface MessageRef {
  readonly accountId: string;
  readonly agentId: string;
  readonly deliveryId: string;
}

/** Reads messages in the journals of agents. Wakes no agent. */
@Injectable()
export class MessageJournal {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** Errors: not_found `agent_not_found`; unavailable and timeout when the agent's host does not respond. */
  async find({ accountId, agentId, deliveryId }: MessageRef): Promise<FoundDelivery> {
    const { host } = await this.requester.request(agentsRequests.locate, { accountId, agentId });
    if (host === null) return { state: 'absent' };
    return this.requester.request(runtimeRequests.findDelivery, { agentId, deliveryId }, { host });
  }
}
