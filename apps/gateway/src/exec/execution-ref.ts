import type { ExecutionRef } from '@berth/contracts/exec';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';

/** The execution that the path names, in the caller's account. */
export const executionRef = (
  request: Pick<ApiRequest, 'principal'>,
  agentId: string,
  executionId: string,
): ExecutionRef => ({ accountId: callerOf(request).accountId, agentId, executionId });
