import { DomainError } from '@berth/kernel';
import type { AgentEvent, LiveAgent, StartCause } from './agent.js';

const START_DEADLINE_SECONDS = 60;

export const after = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1000).toISOString();

/** A start with the next epoch, on the host that holds the volume. */
export const starting = (
  agent: LiveAgent,
  cause: StartCause,
  thaw: boolean,
  at: string,
): readonly AgentEvent[] => {
  if (agent.host === null)
    throw new DomainError('unavailable', 'service_unavailable', 'The agent has no host yet; try again.');
  const deadline = after(at, START_DEADLINE_SECONDS);
  return [
    {
      type: 'AgentStarting',
      data: { agentId: agent.agentId, epoch: agent.epoch + 1, host: agent.host, cause, thaw, deadline, at },
    },
  ];
};

export const failed = (
  agent: LiveAgent,
  code: string,
  message: string,
  at: string,
): readonly AgentEvent[] => [
  { type: 'AgentFailed', data: { agentId: agent.agentId, epoch: agent.epoch, code, message, at } },
];
