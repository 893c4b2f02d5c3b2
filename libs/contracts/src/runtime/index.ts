export {
  MAX_LOG_WAIT_MS,
  HOST_FULL,
  HOST_UNAVAILABLE,
  runtimeRequests,
  type AgentUsage,
  type DeliverMessage,
  type DeliveredMessage,
  type FindDelivery,
  type FoundDelivery,
  type HostView,
  type LogEntry,
  type LogsPage,
  type ObservedAgent,
  type ReadLogs,
  type ReplaceEnv,
  type StartAgent,
  type StartedAgent,
  type ThawAgent,
} from './runtime.requests.js';
export {
  LOG_LEVELS,
  LOG_SOURCES,
  logsQuery,
  type LogLevel,
  type LogSource,
  type LogsQuery,
} from './logs.schemas.js';
export type { AgentEpoch, IdleTime } from './agent-epoch.js';
export { BOX_OWNERS, boxOwner, boxUnavailable, type BoxOwner } from './box-owner.js';
export type {
  BuildFailureCode,
  BuildOrigin,
  BuildRef,
  BuildState,
  BuildVersion,
  BuiltCode,
} from './builds.js';
export type { StartSource } from './start-source.js';
export type {
  ExecuteCommand,
  ExecuteLegacyCommand,
  ExecutionOutcome,
  ExecutionStatus,
  FindExecution,
  FoundExecution,
  LegacyOutcome,
  PrecludedExecution,
  PrecludeExecution,
} from './executions.js';
export { APP_PROTOCOL } from './transfers.js';
export type {
  ChangeFile,
  FileChange,
  FileCommand,
  OpenTransfer,
  StagedTarget,
  Transfer,
  TransferTicket,
} from './transfers.js';
