export { aboutIdentity, aboutVariable } from './sealed-data.js';
export type { Addressee, FindAddressees, FoundAddressee } from './addressee.js';
export { AGENT_LIMITS, variableBytes } from './agent-limits.js';
export {
  AGENT_STATES,
  type AgentState,
  type AgentView,
  type EnvVarView,
  type TemplateView,
} from './agent.view.js';
export {
  DEPLOYMENT_FAILURES,
  DEPLOYMENT_STATUSES,
  type DeploymentFailure,
  type DeploymentStatus,
  type DeploymentView,
} from './deployment.view.js';
export { deployBody, type DeployBody } from './deployments.schemas.js';
export { agentsEvents, type AgentLifecycleEvent } from './agents.events.js';
export { HOST_STATES, type HostState, type HostView } from './host.view.js';
export {
  agentTokenRequests,
  type AuthenticateAgent,
  type AuthenticatedAgent,
  type LlmCaller,
} from './agent-token.requests.js';
export { nextWakeRequests, type NoteNextWake, type OwnerOfAgent } from './next-wake.requests.js';
export {
  agentsRequests,
  type AcceptedDeployment,
  type AgentRef,
  type HostRef,
  type CreateAgent,
  type DeleteEnvVar,
  type Deploy,
  type EnsureAwake,
  type GetAgent,
  type GetDeployment,
  type ListAgents,
  type ListDeployments,
  type ListEnv,
  type EnvPage,
  type LocateAgent,
  type LocatedAgent,
  type OpenApp,
  type OpenedApp,
  type PlaceComputer,
  type SetEnvVar,
  type TransitionResult,
} from './agents.requests.js';
export {
  createAgentBody,
  createAgentOfEndUserBody,
  envValueBody,
  getAgentQuery,
  listAgentsQuery,
  type CreateAgentBody,
  type CreateAgentOfEndUserBody,
  type EnvValueBody,
  type EnvVarBody,
  type GetAgentQuery,
  type ListAgentsQuery,
  type ResourcesBody,
} from './agents.schemas.js';
export {
  agentOwnersRequests,
  type ApplyDefaults,
  type ApplyPolicy,
  type EndUserSpend,
  type GetSpend,
} from './agent-owners.requests.js';
export { agentsErrors } from './agents.errors.js';
export type { AgentCounts, AgentOfEndUser, CountOfEndUsers, ForgetEndUser } from './end-users.requests.js';
