import { nextWakeRequests, type OwnerOfAgent } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Looks up in `agents` which account and end user an agent belongs to. */
@Injectable()
export class OwnersOfAgents {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** Errors: not_found `agent_not_found`. */
  of(agentId: string): Promise<OwnerOfAgent> {
    return this.requester.request(nextWakeRequests.ownerOf, { agentId });
  }

  /** Like `of`, but an agent of another account is not found. */
  async within(accountId: string, agentId: string): Promise<OwnerOfAgent> {
    const owner = await this.of(agentId);
    if (owner.accountId === accountId) return owner;
    throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
  }
}
