import { agentsRequests, type AgentView, type ListAgents } from '@berth/contracts/agents';
import type { Page } from '@berth/kernel';
import type { Requester } from '@berth/messaging';

const PAGE = 200;

/** Returns every agent with this external user id, newest first. */
export const agentsOfEndUser = async (
  requester: Pick<Requester, 'request'>,
  accountId: string,
  externalUserId: string,
): Promise<readonly AgentView[]> => {
  const agents: AgentView[] = [];
  const filter = { accountId, externalUserId, externalId: null, state: null, name: null, label: null };
  for (let cursor: ListAgents['cursor'] = null; ;) {
    const page: Page<AgentView> = await requester.request(agentsRequests.list, {
      ...filter,
      cursor,
      limit: PAGE,
    });
    agents.push(...page.items);
    if (page.nextCursor === null) return agents;
    cursor = page.nextCursor;
  }
};
