export { Berth } from './berth.js';
export {
  ServiceAuthError,
  ServiceConflictError,
  ServiceConnectionError,
  ServiceError,
  ServiceNotFoundError,
  ServicePaymentRequiredError,
  ServiceRateLimitError,
} from './errors.js';
export { insideAgent, publishSchedules } from './schedules.js';
export { VERSION } from './version.js';
export type * from './types.js';
export type { ChangeAgent, ChatOptions, GetAgent, ListAgents, LogsQuery, UpdateAgent } from './agents.js';
export type { ListAudit, ListKeys } from './account.js';
export type { RequestOptions } from './berth.js';
export type { ChatEvent, ChatResult, DeliveryFailure } from './chat.js';
export type { CommandOptions, CommandResult } from './commands.js';
export type {
  ActionOptions,
  ActionResult,
  ActionResults,
  Computer,
  ComputerAction,
  ComputerUsageQuery,
  ComputerUsageReport,
  ComputerUsageRow,
  ComputerUsageTotals,
  CreateComputerBody,
  ListComputers,
  ViewerBody,
  Screenshot,
  ScreenshotOptions,
  OpenedViewer,
  ViewerSession,
} from './computer-types.js';
export type { BerthOptions, CallOptions } from './config.js';
export type { CreateDeployment, ListDeployments } from './deployments.js';
export type { Download } from './download.js';
export type { ListEndUsers } from './end-users.js';
export type { SetVariable } from './env.js';
export type { FileSource, UploadFile } from './file-body.js';
export type { UploadOptions } from './files.js';
export type { LogStream } from './log-stream.js';
export type { ListPage, RecountQuery } from './operations.js';
export type { Page, PagePromise } from './page.js';
export type { ProvisionAgent } from './provision.js';
export type { ScheduleEntry } from './schedules.js';
export type { ServiceResponse } from './transport.js';
export type { ListLlmCalls, UsageQuery } from './usage.js';
export type { FilePath, HeaderFields, Moment, Query, QueryValue } from './values.js';
export type { InvokeOptions, ListDeliveries, WebhookVerification } from './webhooks.js';
