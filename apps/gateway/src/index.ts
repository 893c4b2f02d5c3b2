export { GatewayConfig, readGatewayConfig } from './config.js';
export { startGateway, type RunningGateway } from './start-gateway.js';
