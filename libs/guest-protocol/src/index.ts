export {
  DELIVERY_ABANDONED_CODE,
  DELIVERY_DECLINED_CODE,
  DELIVERY_UNKNOWN_CODE,
  type AbandonDelivery,
  type AbandonedDelivery,
  type Attachment,
  type DeliverToProgram,
  type MessageSource,
  type ProgramResponse,
} from './delivery.js';
export {
  GUEST_LIMITS,
  GUEST_ROUTES,
  guestEnv,
  type CloseViewers,
  type ExecutionGroupsParent,
  type GuestErrorBody,
  type GuestEvent,
  type GuestEvents,
  type GuestHealth,
  type GuestRoute,
  type ProgramState,
  type PutEnv,
  type PutProgram,
  type RunAsUser,
  type RestartPolicy,
  type RunningExecutions,
  type ShutDown,
  type VolumeStorage,
} from './guest-api.js';
export {
  decodeDelivery,
  DELIVERIES_FILE,
  toDeliveryReport,
  type DeliveryOutcome,
  type DeliveryRecord,
  type DeliveryReport,
} from './delivery-journal.js';
export { GUEST_NODE_OPTIONS } from './guest-node.js';
export { GENERATIONS, isGeneration, type Generation, type GuestIdentity } from './generations.js';
export {
  decodeLogLine,
  encodeLogLine,
  LOG_FILE_BYTES,
  logFileName,
  logFileNumber,
  newestLogFile,
  outdatedLogFiles,
  type LogLine,
} from './log-file.js';
export {
  CUT_MARK,
  decodeExecution,
  encodeExecution,
  executionFileName,
  EXECUTIONS_FOLDER,
  EXECUTION_STATUSES,
  KEPT_CHARACTERS,
  type ExecutionRecord,
  type ExecutionReport,
  type ExecutionStatus,
  type LegacyReport,
  type OutputLine,
  type PrecludedExecution,
  type RunCommand,
  type RunLegacyCommand,
} from './execution.js';
export {
  NAME_LIMIT_BYTES,
  TRANSFER_LIMIT_BYTES,
  type FileChange,
  type FileCommand,
  type FileEntry,
  type FileList,
  type StagedFile,
  type StagedTarget,
} from './files.js';
export {
  BEGIN_BEFORE_HEADER,
  BEGIN_WITHIN_MS,
  CLOCK_HEADER,
  monotonicNow,
  TOO_LATE_CODE,
} from './deadlines.js';
export { SCHEDULES_POLL, type PolledSchedules } from './schedules.js';
export { API_REFUSALS, API_SOCKET, unfitRequest, type ApiRefusal } from './api-socket.js';
