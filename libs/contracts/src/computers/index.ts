export { actionsBody, type ActionInput, type ActionsBody } from './actions/actions.schemas.js';
export {
  answerActions,
  type ActionResult,
  type ActionsAnswer,
  type VendorOutput,
} from './actions/answer-actions.js';
export type { ComputerCallOutput } from './actions/computer-call-output.js';
export type { ComputerCall } from './actions/computer-call.js';
export type { NamedAction } from './actions/named-actions.js';
export type { ActionError, Image, PlanOutcome, Seen, UnitOutcome } from './actions/outcome.js';
export { needsClosingImage, planActions, type ActionPlan } from './actions/plan-actions.js';
export { screenOf, toCaller, toDisplay, type Screen } from './actions/screen.js';
export {
  stepsAfterFailure,
  type MouseButton,
  type Point,
  type Region,
  type Size,
  type Step,
} from './actions/step.js';
export type { ToolResult } from './actions/tool-result.js';
export type { ToolsetUse, ToolUse } from './actions/tool-use.js';
export type { TypedAction } from './actions/typed-actions.js';
export { hasClosingImage, type SafetyCheck, type Unit, type Vendor } from './actions/unit.js';
export { aboutComputer } from './sealed-data.js';
export { computersErrors } from './computers.errors.js';
export {
  COMPUTER_STATUSES,
  VIEWER_MODES,
  type ComputerStatus,
  type ComputerView,
  type ViewerMode,
  type ViewerSessionView,
} from './computer.view.js';
export {
  closeSessionsBody,
  COMPUTER_DEFAULTS,
  computerExecBody,
  computerUsageQuery,
  createComputerBody,
  IMAGE_FORMATS,
  listComputersQuery,
  screenshotQuery,
  viewerBody,
  type CloseSessionsBody,
  type ComputerExecBody,
  type ComputerUsageQuery,
  type CreateComputerBody,
  type ListComputersQuery,
  type ScreenshotQuery,
  type ViewerBody,
} from './computers.schemas.js';
export {
  computersRequests,
  type CloseSessions,
  type ComputerExec,
  type ComputerRef,
  type ComputerTransition,
  type ConnectViewer,
  type CreateComputer,
  type CreatedComputer,
  type FoundViewer,
  type GetComputer,
  type ListComputers,
  type OpenActions,
  type OpenComputerDownload,
  type OpenComputerList,
  type OpenComputerStage,
  type OpenComputerTransfer,
  type OpenScreenshot,
  type OpenViewer,
  type PutComputerFile,
  type ReportActions,
} from './computers.requests.js';
