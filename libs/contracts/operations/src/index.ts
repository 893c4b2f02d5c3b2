export { mergeProjections } from './merge-projections.js';
export {
  operationsRequests,
  type OperationsRequests,
  type ProjectionView,
  type RebuildProgress,
  type RebuildProjection,
} from './operations.requests.js';
