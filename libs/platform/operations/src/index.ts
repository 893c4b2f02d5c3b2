export { Projections } from './projections.js';
export { projectionsController } from './projections.nats-controller.js';
