import type { ExecutionRef } from '@berth/contracts/exec';
import { DomainError, isId } from '@berth/kernel';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';

/** The execution that the path names, as the caller may see it. A malformed id is answered like an unknown one. */
export const executionRef = (
  request: Pick<ApiRequest, 'principal'>,
  agentId: string,
  executionId: string,
): ExecutionRef => {
  if (!isId('exe', executionId)) {
    throw new DomainError('not_found', 'execution_not_found', 'Execution not found');
  }
  return { accountId: callerOf(request).accountId, agentId, executionId };
};
