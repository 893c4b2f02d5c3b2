export { AgentClient, isStaleEpoch, type AgentUse, type CallOptions } from './agent-client.js';
export { agentUnavailable, untilReached } from './until-reached.js';
