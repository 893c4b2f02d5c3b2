export { AgentsModule } from './agents.module.js';
export { readAgentsConfig, type AgentsConfig } from './config.js';
