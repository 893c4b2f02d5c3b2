import { DomainError } from '@berth/kernel';
import type { AgentCommandOf } from './agent.commands.js';
import { timesAbandoned, type Agent, type AgentEvent, type LiveAgent, type StopReason } from './agent.js';
import { templateSource } from './agent-source.js';
import { adoptNext, after, starting } from './agent-starting.js';
import { CreationOvertaken } from './creation-overtaken.js';

/** Deadlines of the transient states in seconds. */
const DEPLOY_DEADLINE_SECONDS = 900;
const STOP_DEADLINE_SECONDS = 30;

export const create = (command: AgentCommandOf<'Create'>, agent: Agent): readonly AgentEvent[] => {
  if (agent.status === 'live') return [];
  if (isGone(agent)) throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
  if (timesAbandoned(agent) !== command.attempt) throw new CreationOvertaken();
  const { agentId, profile, at } = command;
  return [
    {
      type: 'AgentCreated.v3',
      data: { agentId, ...profile, source: templateSource(profile.templateId), at },
    },
    {
      type: 'AgentStarting.v2',
      data: {
        agentId,
        epoch: 1,
        host: command.host,
        cause: 'deploy',
        thaw: false,
        version: 1,
        deadline: after(at, DEPLOY_DEADLINE_SECONDS),
        at,
      },
    },
  ];
};

export const abandonCreation = (
  { agentId, attempt, at }: AgentCommandOf<'AbandonCreation'>,
  agent: Agent,
): readonly AgentEvent[] =>
  agent.status === 'live' || isGone(agent) || timesAbandoned(agent) !== attempt
    ? []
    : [{ type: 'AgentCreationAbandoned', data: { agentId, at } }];

const isGone = ({ status }: Agent): boolean => status === 'deleting' || status === 'deleted';

export const start = (command: AgentCommandOf<'Start'>, agent: LiveAgent): readonly AgentEvent[] => {
  const { life } = agent;
  if (command.cause === 'start') {
    if (life.state === 'running' || life.state === 'starting' || life.state === 'deploying') return [];
    // Starting a sleeping agent wakes it; other callers join the wake.
    if (life.state === 'sleeping') return starting(agent, 'wake', life.depth === 'warm', command.at);
    return starting(agent, 'start', false, command.at);
  }
  // A restart in progress satisfies the request.
  if (life.state === 'deploying' || (life.state === 'starting' && life.cause === 'restart')) return [];
  return starting(agent, 'restart', false, command.at);
};

export const wake = (command: AgentCommandOf<'Wake'>, agent: LiveAgent): readonly AgentEvent[] => {
  const { life } = agent;
  switch (life.state) {
    case 'sleeping':
      return starting(agent, 'wake', life.depth === 'warm', command.at);
    case 'running':
      // The host has frozen the agent, and its report has not arrived yet.
      return command.refusedEpoch === agent.epoch ? starting(agent, 'wake', true, command.at) : [];
    case 'starting':
      if (life.cause === 'wake' || life.cause === 'recover') return [];
      throw new DomainError(
        'conflict',
        'agent_deploying',
        'The agent is starting; try again when it is running.',
      );
    case 'deploying':
      throw new DomainError(
        'conflict',
        'agent_deploying',
        'The agent is deploying; try again when it is running.',
      );
    case 'stopping':
      // A wake wins over falling asleep, but not over a stop.
      if (life.target === 'sleeping') return starting(agent, 'wake', false, command.at);
      throw new DomainError('conflict', 'agent_stopped', 'The agent is stopping; start it first.');
    case 'stopped':
      throw new DomainError('conflict', 'agent_stopped', 'The agent is stopped; start it first.');
    case 'failed':
      throw new DomainError(
        'conflict',
        'agent_failed',
        `The agent has failed: ${life.message} Start or restart it.`,
        { reason: life.code },
      );
  }
};

export const stop = (command: AgentCommandOf<'Stop'>, agent: LiveAgent): readonly AgentEvent[] => {
  const { life, agentId } = agent;
  const { reason = 'requested' } = command;
  if (command.epoch !== undefined && command.epoch !== agent.epoch) return [];
  if (life.state === 'stopping' && life.target === command.target) return [];
  if (command.target === 'stopped' && life.state === 'stopped') return [];
  if (command.target === 'sleeping') {
    if (life.state === 'sleeping') return [];
    if (life.state === 'stopped' || life.state === 'failed') {
      return [
        {
          type: 'AgentFellAsleep',
          data: { agentId, epoch: agent.epoch, depth: 'cold', reason, at: command.at },
        },
      ];
    }
  }
  // If this interrupts the first start of a version, or one was built meanwhile, the next start runs that version.
  return [...adoptNext(agent, command.at), ...stopping(agent, { ...command, reason })];
};

/** Stops the agent at the next epoch. */
export const stopping = (
  { agentId, epoch }: LiveAgent,
  { target, reason, at }: Pick<AgentCommandOf<'Stop'>, 'target' | 'at'> & { readonly reason: StopReason },
): readonly AgentEvent[] => [
  {
    type: 'AgentStopping.v2',
    data: { agentId, epoch: epoch + 1, target, reason, deadline: after(at, STOP_DEADLINE_SECONDS), at },
  },
];

/** The event holds the epoch of the first decision, so that a repeated command cannot freeze the agent at a later epoch. */
export const sleep = ({ warm, at }: AgentCommandOf<'Sleep'>, agent: LiveAgent): readonly AgentEvent[] => {
  const { agentId, epoch, host, life } = agent;
  if (warm && life.state === 'running' && host !== null)
    return [{ type: 'AgentSleepRequested', data: { agentId, epoch, host, at } }];
  return stop({ type: 'Stop', target: 'sleeping', at }, agent);
};
