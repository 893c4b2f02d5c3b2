export { AgentClient, isStaleEpoch, type AgentUse, type CallOptions } from './agent-client.js';
export { nothingDone, untilReached } from './until-reached.js';
