import { agentsRequests } from '@berth/contracts/agents';
import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

const LOOKUP_WITHIN_MS = 2_000;

/** The agent whose id is the path parameter `param`. Principals that belong to one agent reach only that agent. */
export const agentOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('agt', id),
  isReachable: (principal, id) => !('agentId' in principal) || principal.agentId === id,
  notFound: () => new HttpRefusal(404, 'agent_not_found', 'There is no such agent.'),
  lookUp: (requester, { accountId }, params) =>
    requester.request(
      agentsRequests.get,
      { accountId, agentId: params[param] ?? '', wait: null },
      { deadlineMs: LOOKUP_WITHIN_MS },
    ),
});
