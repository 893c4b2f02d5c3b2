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
export { operationsErrors } from './operations.errors.js';
export { SERVICES, SERVICES_WITH_TABLES } from './services.js';
