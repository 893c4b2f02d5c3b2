export { checkHost, readRuntimeConfig, type RuntimeConfig } from './config.js';
export { hostId } from './host-id.js';
export { RuntimeModule } from './runtime.module.js';
