export { readRuntimeConfig, type RuntimeConfig } from './config.js';
export { startRuntime, type RunningRuntime } from './start-runtime.js';
