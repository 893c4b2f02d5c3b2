import type { EndUserCommand, EndUserPolicy, SetPolicy } from '@berth/contracts/end-users';
import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { EndUserWrites } from '../end-user/end-user-writes.js';
import { PoliciesInAgents } from './policies-in-agents.js';

/** The policies of end users. They are in force once a command returns. */
@Injectable()
export class PolicyCommandHandler {
  constructor(
    private readonly endUsers: EndUserWrites,
    private readonly agents: PoliciesInAgents,
    private readonly clock: Clock,
  ) {}

  async set(command: SetPolicy): Promise<EndUserPolicy & { readonly agentsUpdated: number }> {
    const { accountId, externalId, policy } = command;
    const { endUserId } = await this.endUsers.load(accountId, externalId);
    const agentCount = await this.agents.count(accountId, externalId);
    const { position } = await this.endUsers.handle(
      { type: 'SetPolicy', endUserId, accountId, policy, now: this.clock.now() },
      command,
    );
    if (position === null) throw new Error('Setting a policy appended no event.');
    const agentsUpdated = await this.agents.apply({ accountId, endUserId }, policy, position);
    return { externalId, policy, agentsUpdated: agentsUpdated ?? agentCount };
  }

  async delete(command: EndUserCommand): Promise<Record<string, never>> {
    const { accountId, externalId } = command;
    const { endUserId } = await this.endUsers.load(accountId, externalId);
    await this.agents.expectReachable(accountId);
    const { position } = await this.endUsers.handle(
      { type: 'RemovePolicy', endUserId, accountId, now: this.clock.now() },
      command,
    );
    const endUser = { accountId, endUserId };
    if (position !== null) await this.agents.apply(endUser, null, position);
    return {};
  }
}
