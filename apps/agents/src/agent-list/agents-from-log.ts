import type { AgentView, LocatedAgent } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { DomainError, isId } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import type { AgentWithRow } from '../agent/agent.streams.js';
import { AgentIdentities } from '../personal-data/agent-identities.js';
import { AgentActivity } from './agent-activity.js';
import type { AgentRow } from './agent-row.js';
import { ownerOfRow } from '../agent/owner.js';
import { NextWakes } from '../next-wake/next-wakes.js';
import { Policies } from '../policy/policies.js';
import type { Activity } from './agent-view.js';

/**
 * Agents folded from their log, independent of the agent list: the results of commands, and the fallback of reads while
 * the list does not contain the agent yet.
 */
@Injectable()
export class AgentsFromLog {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly activity: AgentActivity,
    private readonly identities: AgentIdentities,
    private readonly policies: Policies,
    private readonly nextWakes: NextWakes,
  ) {}

  /** Errors: not_found `agent_not_found`, also for another account's agent and for one that is being deleted. */
  async view(accountId: string, agentId: string): Promise<AgentView> {
    const agent = await this.load(accountId, agentId);
    const [used, policy, nextWakeAt] = await Promise.all([
      this.lastUse(agentId),
      this.policyOf(agent.row),
      this.nextWakeOf(agentId),
    ]);
    return this.identities.view(agent, used, policy, nextWakeAt);
  }

  /** Errors: as `view`. */
  async locate(accountId: string, agentId: string): Promise<LocatedAgent> {
    const { host, guest } = (await this.load(accountId, agentId)).row;
    return { host, guest };
  }

  private async load(accountId: string, agentId: string): Promise<AgentWithRow & { readonly row: AgentRow }> {
    const found = isId('agt', agentId) ? await this.agents.loadWithRow(agentId) : null;
    const row = found?.row ?? null;
    if (found === null || row === null || row.account_id !== accountId || row.state === 'deleting')
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    return { agent: found.agent, row };
  }

  /** While the tables are unavailable, the view shows the agent's own values instead. */
  private policyOf(row: AgentRow): Promise<Policy | null> {
    return this.policies.inForce(ownerOfRow(row)).catch(() => null);
  }

  /** While the tables are unavailable, the view shows the last start instead. */
  private async lastUse(agentId: string): Promise<Activity | null> {
    return this.activity.of(agentId).catch(() => null);
  }

  /** While the tables are unavailable, the view shows no wake. */
  private async nextWakeOf(agentId: string): Promise<string | null> {
    const at = await this.nextWakes.of(agentId).catch(() => null);
    return at?.toISOString() ?? null;
  }
}
