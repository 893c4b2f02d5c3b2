export {
  accountsEvents,
  type AccountOpenedEvent,
  type KeyMintedEvent,
  type KeyRevokedEvent,
} from './accounts.events.js';
export { formatKey, isWellFormedKey } from './key-format.js';
export {
  SCOPES,
  accountsRequests,
  type Authenticate,
  type KeyView,
  type ListKeys,
  type MintKey,
  type MintedKey,
  type Principal,
  type RevokeKey,
  type Scope,
} from './accounts.requests.js';
export { accountsErrors } from './accounts.errors.js';
