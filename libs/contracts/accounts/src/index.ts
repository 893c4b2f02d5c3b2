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
