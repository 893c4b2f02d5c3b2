export {
  END_USER_STATUSES,
  type EndUserRecord,
  type EndUserStatus,
  type EndUserView,
  type MetadataValue,
} from './end-user.view.js';
export {
  TOKEN_SCOPES,
  type AuthenticatedToken,
  type MintedToken,
  type TokenHolder,
  type TokenScope,
} from './end-user-token.js';
export { endUsersErrors } from './end-users.errors.js';
export {
  endUsersEvents,
  type DefaultsChangedPayload,
  type EndUserEventPayload,
  type PolicySetPayload,
} from './end-users.events.js';
export {
  endUsersRequests,
  type AuthenticateToken,
  type CreateEnlisted,
  type EndUserCommand,
  type EnlistedEndUser,
  type EndUserPolicy,
  type GetEndUser,
  type EndUserIds,
  type FindEndUsers,
  type FindPersonalKeys,
  type FoundPersonalKey,
  type ListEndUsers,
  type MintToken,
  type PersonalKeyView,
  type PutEndUser,
  type PutEndUserResult,
  type SetDefaults,
  type SetPolicy,
} from './end-users.requests.js';
export {
  listEndUsersQuery,
  mintTokenBody,
  putEndUserBody,
  putPolicyBody,
  type ListEndUsersQuery,
  type MintTokenBody,
  type PutEndUserBody,
  type PutPolicyBody,
} from './end-users.schemas.js';
