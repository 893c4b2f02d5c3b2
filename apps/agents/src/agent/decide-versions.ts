import type { AgentCommandOf } from './agent.commands.js';
import { evolve, type AgentEvent, type LiveAgent } from './agent.js';
import type { DeployedSource } from './agent-source.js';
import { starting } from './agent-starting.js';
import { deploymentsInUse } from './agent-versions.js';

/** A running agent is restarted with the version and a failed one started; any other begins with it at its next start. */
export const prepareVersion = (
  { built, at }: AgentCommandOf<'PrepareVersion'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  const { agentId, life } = agent;
  if (isKnown(agent, built.deploymentId)) return [];
  const source: DeployedSource = { ...built, version: agent.versions.latest + 1 };
  const prepared: AgentEvent = { type: 'AgentVersionPrepared', data: { agentId, source, at } };
  const after = evolve(agent, prepared);
  if (after.status !== 'live') return [];
  if (life.state === 'running') return [prepared, ...starting(after, 'restart', false, at)];
  if (life.state === 'failed') return [prepared, ...starting(after, 'start', false, at)];
  return [prepared, ...adoptNext(after, at)];
};

const isKnown = (agent: LiveAgent, deploymentId: string): boolean =>
  deploymentsInUse(agent).includes(deploymentId) || agent.versions.abandoned?.deploymentId === deploymentId;

/** The agent's source becomes the version that its next start runs, unless it is already. */
export const adoptNext = ({ agentId, source, versions }: LiveAgent, at: string): readonly AgentEvent[] => {
  const { next } = versions;
  if (next === null || next.kind === 'template' || next.version === source.version) return [];
  return [{ type: 'AgentVersionAdopted', data: { agentId, source: next, at } }];
};
