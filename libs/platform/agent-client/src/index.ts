export { AgentClient, isStaleEpoch, type AgentUse, type CallOptions } from './agent-client.js';
export { boxUnavailable, untilReached } from './until-reached.js';
