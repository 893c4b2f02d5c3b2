import { detach } from '@berth/kernel';
import {
  agentOwnersRequests,
  type ApplyDefaults,
  type ApplyPolicy,
  type EndUserSpend,
  type GetSpend,
} from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentListQuery } from '../agent-list/agent-list.query.js';
import { SpendQuery } from '../use/spend.query.js';
import { IdleTimes } from './idle-times.js';
import { Policies } from './policies.js';

@Controller()
export class PolicyNatsController {
  constructor(
    private readonly policies: Policies,
    private readonly agents: AgentListQuery,
    private readonly spends: SpendQuery,
    private readonly idleTimes: IdleTimes,
  ) {}

  @HandleRequest(agentOwnersRequests.applyPolicy)
  async apply(change: ApplyPolicy): Promise<{ readonly agentsUpdated: number }> {
    await this.policies.apply(change);
    detach(this.idleTimes.send({ endUserId: change.endUserId }));
    return { agentsUpdated: await this.agents.countOf(change.accountId, change.endUserId) };
  }

  @HandleRequest(agentOwnersRequests.applyDefaults)
  async applyDefaults(change: ApplyDefaults): Promise<Record<string, never>> {
    await this.policies.applyDefaults(change);
    detach(this.idleTimes.send({ accountId: change.accountId }));
    return {};
  }

  @HandleRequest(agentOwnersRequests.spend)
  spend(request: GetSpend): Promise<EndUserSpend> {
    return this.spends.of(request);
  }
}
