import { execRequests } from '@berth/contracts/exec';
import { DomainError, isId } from '@berth/kernel';
import type { RouteResource } from '../http/resource.js';

const LOOKUP_WITHIN_MS = 2_000;

/** The execution whose id is the path parameter `param`, of the agent `agent_id`. */
export const executionOf = (param: string): RouteResource => ({
  param,
  isId: (id) => isId('exe', id),
  notFound: () => new DomainError('not_found', 'execution_not_found', 'Execution not found'),
  lookUp: (requester, { accountId }, params) =>
    requester.request(
      execRequests.get,
      { accountId, agentId: params['agent_id'] ?? '', executionId: params[param] ?? '' },
      { deadlineMs: LOOKUP_WITHIN_MS },
    ),
});
