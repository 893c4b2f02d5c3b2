export {
  END_USER_STATUSES,
  type EndUserRecord,
  type EndUserStatus,
  type EndUserView,
  type MetadataValue,
} from './end-user.view.js';
export { endUsersErrors } from './end-users.errors.js';
export { endUsersEvents, type EndUserEventPayload } from './end-users.events.js';
export {
  endUsersRequests,
  type EndUserCommand,
  type GetEndUser,
  type ListEndUsers,
  type PutEndUser,
  type PutEndUserResult,
} from './end-users.requests.js';
export {
  listEndUsersQuery,
  putEndUserBody,
  type ListEndUsersQuery,
  type PutEndUserBody,
} from './end-users.schemas.js';
