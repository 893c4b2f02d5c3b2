export {
  accountsEvents,
  type AccountOpenedEvent,
  type AccountStandingEvent,
  type KeyMintedEvent,
  type KeyRevokedEvent,
} from './accounts.events.js';
export { formatKey, isWellFormedKey } from './key-format.js';
export {
  accountsRequests,
  type AccountView,
  type Authenticate,
  type AuthenticatedKey,
  type FindSuspended,
  type GetAccount,
  type GetOwnAccount,
  type GetStanding,
  type KeyView,
  type ListKeys,
  type MintFirstKey,
  type MintKey,
  type MintedKey,
  type OpenAccount,
  type OpenedAccount,
  type OwnAccountView,
  type PlansInUse,
  type Standing,
  type Principal,
  type RevokeKey,
  type UpdateAccount,
} from './accounts.requests.js';
export {
  mintKeyBody,
  openAccountBody,
  updateAccountBody,
  type MintKeyBody,
  type OpenAccountBody,
  type UpdateAccountBody,
} from './accounts.schemas.js';
export { RECOVERY_SOCKET } from './recovery-socket.js';
export { DEFAULT_PLAN, FIRST_KEY_SCOPES, SCOPES, type Scope } from './scopes.js';
export { accountsErrors } from './accounts.errors.js';
export { feedbackRequests, type FeedbackView, type ReportFeedback } from './feedback.requests.js';
export {
  FEEDBACK_KINDS,
  FEEDBACK_LIMITS,
  feedbackBody,
  type FeedbackBody,
  type FeedbackKind,
} from './feedback.schemas.js';
