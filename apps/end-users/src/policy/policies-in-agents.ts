import { agentOwnersRequests } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

/**
 * Puts policies in force in `agents`, so that the caller's next request meets them. If a process ends before that,
 * `agents` learns of the change from its event.
 */
@Injectable()
export class PoliciesInAgents {
  constructor(@Inject(Requester) private readonly requester: Pick<Requester, 'request'>) {}

  /** `position` is that of the event. Returns the number of agents that the end user has. */
  async apply(
    endUser: { readonly accountId: string; readonly endUserId: string },
    policy: Policy | null,
    position: bigint,
  ): Promise<number> {
    const request = { ...endUser, policy, position: position.toString() };
    return (await this.requester.request(agentOwnersRequests.applyPolicy, request)).agentsUpdated;
  }

  async applyDefaults(accountId: string, policy: Policy | null, position: bigint): Promise<void> {
    await this.requester.request(agentOwnersRequests.applyDefaults, {
      accountId,
      policy,
      position: position.toString(),
    });
  }
}
