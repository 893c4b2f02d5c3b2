export { EventConsumers } from './event-consumers.js';
export { HealthCheck } from './health-check.js';
export { operationsOf, type Operations, type OperationsOptions } from './operations.js';
export {
  healthController,
  operationsControllers,
  operationsProviders,
} from './operations.nats-controllers.js';
export { OperationsModule } from './operations.module.js';
export { ProjectionRunners } from './projection-runners.js';
