export { readDeliveryConfig, type DeliveryConfig } from './config.js';
export { DeliveryModule } from './delivery.module.js';
