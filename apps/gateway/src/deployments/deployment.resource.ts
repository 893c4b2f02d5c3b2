import { agentsRequests } from '@berth/contracts/agents';
import { isId } from '@berth/kernel';
import { HttpRefusal } from '../http/http-refusal.js';
import type { RouteResource } from '../http/resource.js';

const LOOKUP_WITHIN_MS = 2_000;

/** The deployment whose id is the path parameter `param`, of the agent `agent_id`. */
export const deploymentOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('dep', id),
  notFound: () => new HttpRefusal(404, 'deployment_not_found', 'The agent has no such deployment.'),
  lookUp: (requester, { accountId }, params) =>
    requester.request(
      agentsRequests.getDeployment,
      { accountId, agentId: params['agent_id'] ?? '', deploymentId: params[param] ?? '' },
      { deadlineMs: LOOKUP_WITHIN_MS },
    ),
});
