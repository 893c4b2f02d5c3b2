export { readAgentsConfig, type AgentsConfig } from './config.js';
export { startAgents } from './start-agents.js';
