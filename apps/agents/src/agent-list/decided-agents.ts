import type { AgentView, LocatedAgent } from '@berth/contracts/agents';
import { DomainError, isId } from '@berth/kernel';
import type { AgentCommandHandler } from '../agent/agent.command-handler.js';
import type { AgentActivity } from './agent-activity.js';
import type { AgentRow } from './agent-row.js';
import { viewOf, type Activity } from './agent-view.js';

/**
 * Agents as their log has them, however far the agent list is: what commands answer with, and what a read falls back to
 * when the list does not show the agent yet.
 */
export class DecidedAgents {
  constructor(
    private readonly agents: Pick<AgentCommandHandler, 'loadRow'>,
    private readonly activity: Pick<AgentActivity, 'of'>,
  ) {}

  /** Errors: not_found `agent_not_found`, also for another account's agent and one that is being deleted. */
  async view(accountId: string, agentId: string): Promise<AgentView> {
    const row = await this.row(accountId, agentId);
    return viewOf(row, await this.lastUse(agentId));
  }

  /** Errors: as `view`. */
  async locate(accountId: string, agentId: string): Promise<LocatedAgent> {
    const { host, guest } = await this.row(accountId, agentId);
    return { host, guest };
  }

  private async row(accountId: string, agentId: string): Promise<AgentRow> {
    const row = isId('agt', agentId) ? await this.agents.loadRow(agentId) : null;
    if (row === null || row.account_id !== accountId || row.state === 'deleting')
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    return row;
  }

  /** It decides nothing: without the tables the answer shows the last start. */
  private async lastUse(agentId: string): Promise<Activity | null> {
    return this.activity.of(agentId).catch(() => null);
  }
}
