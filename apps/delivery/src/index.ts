export { readDeliveryConfig, type DeliveryConfig } from './config.js';
export { startDelivery } from './start-delivery.js';
