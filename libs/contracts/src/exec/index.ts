export { execEvents, type ExecutionEndedEvent, type ExecutionSubmittedEvent } from './exec.events.js';
export {
  COMMAND_LIMIT_BYTES,
  execRequests,
  executionIdOf,
  EXECUTION_STATUSES,
  type AwaitExecution,
  type CancelExecution,
  type ExecutionRef,
  type ExecutionStatus,
  type ExecutionSummary,
  type ExecutionView,
  type FollowedOutput,
  type ListExecutions,
  type OpenConsole,
  type StreamTicket,
  type SubmitExecution,
  type SubmittedExecution,
} from './exec.requests.js';
export { execErrors } from './exec.errors.js';
