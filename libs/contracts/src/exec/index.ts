export { execEvents, type ExecutionEndedEvent, type ExecutionSubmittedEvent } from './exec.events.js';
export {
  COMMAND_LIMIT_BYTES,
  execRequests,
  executionIdOf,
  type AwaitExecution,
  type CancelExecution,
  type ExecutionRef,
  type ExecutionSummary,
  type FollowedOutput,
  type ListExecutions,
  type OpenConsole,
  type StreamTicket,
  type SubmitExecution,
  type SubmittedExecution,
} from './exec.requests.js';
export {
  consoleQuery,
  listExecutionsQuery,
  outputQuery,
  submitBody,
  type ConsoleQuery,
  type ListExecutionsQuery,
  type OutputQuery,
  type SubmitBody,
} from './exec.schemas.js';
export { execErrors } from './exec.errors.js';
