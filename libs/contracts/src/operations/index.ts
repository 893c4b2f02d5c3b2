export { mergeProjections } from './merge-projections.js';
export {
  operationsRequests,
  type DeadLetterRef,
  type DeadLetterView,
  type ListDeadLetters,
  type OperationsRequests,
  type ProjectionView,
  type RebuildProgress,
  type RebuildProjection,
  type ServiceHealth,
} from './operations.requests.js';
export { HOST_ACCESS_SOCKET, HOST_NAME, type AddedHost, type AddHost } from './host-access.js';
export { operationsErrors } from './operations.errors.js';
export { SERVICES, SERVICES_WITH_TABLES } from './services.js';
