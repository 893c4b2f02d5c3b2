import { GUEST_ROUTES } from '@berth/guest-protocol';
import type { Route } from '../server/guest-server.js';
import {
  readExecutionId,
  readExecutionQuery,
  readRunCommand,
  readRunLegacyCommand,
} from './execution-requests.js';
import type { GuestExecutions } from './guest-executions.js';
import { followOutput } from './follow-output.js';
import type { LegacyExecutions } from './legacy-executions.js';

/** Execution routes of a guest of the current generation. */
export const executionRoutes = (executions: GuestExecutions): readonly Route[] => [
  { ...GUEST_ROUTES.execute, handle: async ({ body }) => executions.execute(readRunCommand(body)) },
  {
    ...GUEST_ROUTES.execution,
    handle: async ({ query }) => {
      const { executionId, waitMs } = readExecutionQuery(query);
      return executions.find(executionId, waitMs);
    },
  },
  { ...GUEST_ROUTES.runningExecutions, handle: async () => ({ executionIds: executions.running }) },
  { ...GUEST_ROUTES.cancelExecution, handle: async ({ body }) => executions.cancel(readExecutionId(body)) },
  {
    ...GUEST_ROUTES.precludeExecution,
    handle: async ({ body }) => executions.preclude(readExecutionId(body)),
  },
  {
    ...GUEST_ROUTES.executionOutput,
    stream: async ({ query, response, gone }) =>
      followOutput(executions.output(readExecutionQuery(query).executionId), { response, gone }),
  },
];

/** The only execution route of an older guest. */
export const legacyExecutionRoutes = (executions: LegacyExecutions): readonly Route[] => [
  {
    ...GUEST_ROUTES.executeLegacy,
    handle: async ({ body }) => executions.execute(readRunLegacyCommand(body)),
  },
];
