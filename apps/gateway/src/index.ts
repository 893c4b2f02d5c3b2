export { readGatewayConfig, type GatewayConfig } from './config.js';
export { startGateway, type RunningGateway } from './start-gateway.js';
