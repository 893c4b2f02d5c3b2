export {
  accountsEvents,
  type AccountOpenedEvent,
  type KeyMintedEvent,
  type KeyRevokedEvent,
} from './accounts.events.js';
export { formatKey, isWellFormedKey } from './key-format.js';
export {
  accountsRequests,
  type Authenticate,
  type KeyView,
  type ListKeys,
  type MintKey,
  type MintedKey,
  type Principal,
  type RevokeKey,
} from './accounts.requests.js';
export { mintKeyBody, type MintKeyBody } from './accounts.schemas.js';
export { RECOVERY_SOCKET } from './recovery-socket.js';
export { SCOPES, type Scope } from './scopes.js';
export { accountsErrors } from './accounts.errors.js';
