import type { AgentCommandOf } from './agent.commands.js';
import { evolve, type AgentEvent, type LiveAgent } from './agent.js';
import type { DeployedSource } from './agent-source.js';
import { adoptNext, starting } from './agent-starting.js';
import { deploymentsInUse } from './agent-versions.js';
import { beforeLoss, isHostGone } from './decide-lost.js';

/**
 * A running agent is restarted with the version and a failed one started. An agent that is coming up keeps its start; once
 * that is over, it is restarted. Any other begins with the version at its next start.
 */
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
  switch ((beforeLoss(agent) ?? life).state) {
    case 'deploying':
    case 'starting':
      return [prepared];
    case 'running':
    case 'failed':
      if (isHostGone(agent)) return [prepared];
      return [prepared, ...starting(after, life.state === 'running' ? 'restart' : 'start', false, at)];
    case 'stopping':
    case 'stopped':
    case 'sleeping':
      return [prepared, ...adoptNext(after, at)];
  }
};

const isKnown = (agent: LiveAgent, deploymentId: string): boolean =>
  deploymentsInUse(agent).includes(deploymentId) || agent.versions.abandoned?.deploymentId === deploymentId;
