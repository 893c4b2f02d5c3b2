export { AGENT_LIMITS, variableBytes } from './agent-limits.js';
export {
  AGENT_STATES,
  type AgentState,
  type AgentView,
  type EnvVarView,
  type TemplateView,
} from './agent.view.js';
export { agentsEvents, type AgentLifecycleEvent } from './agents.events.js';
export type { ObservedAgent } from './observed-agent.js';
export {
  agentsRequests,
  type ActivityKind,
  type AgentRef,
  type AnnounceHost,
  type HostOrders,
  type AwakeAgent,
  type CreateAgent,
  type DeleteEnvVar,
  type EnsureAwake,
  type GetAgent,
  type ListAgents,
  type ListEnv,
  type EnvPage,
  type LocateAgent,
  type LocatedAgent,
  type ReportActivity,
  type ReportObservation,
  type SetEnvVar,
  type TransitionResult,
} from './agents.requests.js';
export {
  createAgentBody,
  envValueBody,
  getAgentQuery,
  listAgentsQuery,
  type CreateAgentBody,
  type EnvValueBody,
  type EnvVarBody,
  type GetAgentQuery,
  type ListAgentsQuery,
  type ResourcesBody,
} from './agents.schemas.js';
export { agentsErrors } from './agents.errors.js';
