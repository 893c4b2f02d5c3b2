export { EventConsumers } from './event-consumers.js';
export { OperationsModule } from './operations.module.js';
export { ProjectionRunners } from './projection-runners.js';
