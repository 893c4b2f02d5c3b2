export { readRuntimeConfig, type RuntimeConfig } from './config.js';
export { hostId } from './host-id.js';
export { startRuntime, type RunningRuntime } from './start-runtime.js';
