import { agentOwnersRequests, agentsRequests } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';

/**
 * Puts policies in force in `agents`, so that the caller's next request meets them. If `agents` cannot be reached, it
 * learns of the change from its event, soon after it can be.
 */
@Injectable()
export class PoliciesInAgents {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    @Inject(Logger) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Precedes every change, so that one that is refused because `agents` cannot be reached has changed nothing. Returns the
   * number of agents of the end user.
   */
  async count(accountId: string, externalId: string): Promise<number> {
    const request = { accountId, externalUserIds: [externalId] };
    const { counts } = await this.requester.request(agentsRequests.countOfEndUsers, request);
    return new Map(Object.entries(counts)).get(externalId) ?? 0;
  }

  /** Like `count`, for changes of an account. */
  async expectReachable(accountId: string): Promise<void> {
    await this.requester.request(agentsRequests.countOfEndUsers, { accountId, externalUserIds: [] });
  }

  /** `position` is that of the event. Returns the number of agents that the end user has, null if that is unknown. */
  async apply(
    endUser: { readonly accountId: string; readonly endUserId: string },
    policy: Policy | null,
    position: bigint,
  ): Promise<number | null> {
    const request = { ...endUser, policy, position: position.toString() };
    const applied = this.requester.request(agentOwnersRequests.applyPolicy, request);
    return (await this.orLater(applied))?.agentsUpdated ?? null;
  }

  async applyDefaults(accountId: string, policy: Policy | null, position: bigint): Promise<void> {
    const request = { accountId, policy, position: position.toString() };
    await this.orLater(this.requester.request(agentOwnersRequests.applyDefaults, request));
  }

  private async orLater<Response>(applied: Promise<Response>): Promise<Response | null> {
    try {
      return await applied;
    } catch (error) {
      this.log.warn({ err: error }, 'a policy takes effect on agents later');
      return null;
    }
  }
}
