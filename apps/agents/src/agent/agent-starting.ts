import { DomainError } from '@berth/kernel';
import {
  evolve,
  type Agent,
  type AgentEvent,
  type LiveAgent,
  type StartCause,
  type StartingLife,
} from './agent.js';
import { isUntried, startsWith } from './agent-versions.js';

const START_DEADLINE_SECONDS = 60;

export const after = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1000).toISOString();

/**
 * A start with the next epoch, on the host that holds the volume. It thaws nothing when another version is to run than
 * the one that is frozen.
 */
export const starting = (
  agent: LiveAgent,
  cause: StartCause,
  thaw: boolean,
  at: string,
): readonly AgentEvent[] => {
  if (agent.host === null)
    throw new DomainError('unavailable', 'service_unavailable', 'The agent has no host yet; try again.');
  const deadline = after(at, START_DEADLINE_SECONDS);
  const { agentId, epoch, host, versions } = agent;
  const { version } = startsWith(agent);
  return [
    {
      type: 'AgentStarting.v2',
      data: {
        agentId,
        epoch: epoch + 1,
        host,
        cause,
        thaw: thaw && versions.next === null,
        version,
        deadline,
        at,
      },
    },
  ];
};

/**
 * Goes on with a start that the host may have finished while it was lost: asked for it again at the same epoch, the host
 * says how it ended.
 */
export const startingStill = (
  { agentId, epoch, host }: LiveAgent,
  { cause, thaw, version, deadline }: StartingLife,
  at: string,
): AgentEvent => {
  const least = after(at, START_DEADLINE_SECONDS);
  return {
    type: 'AgentStarting.v2',
    data: {
      ...{ agentId, epoch, host: host ?? '', cause, thaw, version, at },
      deadline: Date.parse(deadline) > Date.parse(least) ? deadline : least,
    },
  };
};

/** Follows `events`, after which the agent runs, by a restart if a deployment has built a version during the start. */
export const thenWithNext = (
  agent: LiveAgent,
  events: readonly AgentEvent[],
  at: string,
): readonly AgentEvent[] => {
  const after = events.reduce<Agent>(evolve, agent);
  return after.status === 'live' && after.versions.next !== null
    ? [...events, ...starting(after, 'restart', false, at)]
    : events;
};

/** The agent's source becomes the version that its next start runs, unless it is already. */
export const adoptNext = ({ agentId, source, versions }: LiveAgent, at: string): readonly AgentEvent[] => {
  const { next } = versions;
  if (next === null || next.kind === 'template' || next.version === source.version) return [];
  return [{ type: 'AgentVersionAdopted', data: { agentId, source: next, at } }];
};

/**
 * Goes on with a version that was built during the start, or returns to the version before the one that was starting;
 * without either, the agent has failed.
 */
export const startFailed = (
  agent: LiveAgent,
  code: string,
  message: string,
  at: string,
): readonly AgentEvent[] => {
  const { agentId, life, versions } = agent;
  const { next, before } = versions;
  const source = before.at(-1);
  if (!('cause' in life) || next === null || next.kind === 'template' || source === undefined)
    return failed(agent, code, message, at);
  if (!isUntried(versions, life.version)) return starting(agent, life.cause, false, at);
  const { deploymentId, version } = next;
  const abandoned: AgentEvent = {
    type: 'AgentVersionAbandoned',
    data: { agentId, version, deploymentId, message, source, at },
  };
  const returned = evolve(agent, abandoned);
  return returned.status === 'live' ? [abandoned, ...starting(returned, life.cause, false, at)] : [];
};

export const failed = (
  agent: LiveAgent,
  code: string,
  message: string,
  at: string,
): readonly AgentEvent[] => [
  { type: 'AgentFailed', data: { agentId: agent.agentId, epoch: agent.epoch, code, message, at } },
];
