import { DomainError } from '@berth/kernel';
import type { AgentCommandOf } from './agent.commands.js';
import type { AgentEvent, Life, LiveAgent } from './agent.js';
import { adoptNext, failed, starting, startingStill, thenWithNext } from './agent-starting.js';
import { stopping } from './decide-requested.js';

/** The agent's state at the time its host was lost; null if its host is not lost. */
export const beforeLoss = ({ life }: LiveAgent): Life | null =>
  life.state === 'failed' && life.code === 'host_lost' ? (life.was ?? { state: 'running' }) : null;

/**
 * Precedes `events` with `AgentUnseen` if the agent ran when its host fell silent: it is known to have run only until the
 * host's last report.
 */
export const afterLastReport = (
  { seenAt, at }: AgentCommandOf<'LoseHost' | 'RemoveHost' | 'SettleAbsence'>,
  { agentId, epoch, life, since }: LiveAgent,
  events: readonly AgentEvent[],
): readonly AgentEvent[] => {
  if (events.length === 0 || life.state !== 'running' || seenAt === undefined) return events;
  const last = Date.parse(seenAt) > Date.parse(since) ? seenAt : since;
  if (Date.parse(last) >= Date.parse(at)) return events;
  return [{ type: 'AgentUnseen', data: { agentId, epoch, since: last, at } }, ...events];
};

/**
 * `LoseHost`: the agent's host is silent, and may still run the agent. `RemoveHost`: an operator has given up the host,
 * and with it the agent's volume.
 */
export const failWithHost = (
  { type, at }: AgentCommandOf<'LoseHost' | 'RemoveHost'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (type === 'RemoveHost')
    return isHostRemoved(agent)
      ? []
      : failed(agent, 'host_removed', 'The machine that held the agent was removed.', at);
  return agent.life.state === 'failed'
    ? []
    : failed(agent, 'host_lost', 'The machine that runs the agent does not respond.', at);
};

/** Whether the agent's host is lost or removed, so that the agent cannot be started at present. */
export const isHostGone = (agent: LiveAgent): boolean => beforeLoss(agent) !== null || isHostRemoved(agent);

const isHostRemoved = ({ life }: LiveAgent): boolean =>
  life.state === 'failed' && life.code === 'host_removed';

/** Errors: unavailable `agent_unavailable` while the host is lost, conflict `agent_failed` after its removal. */
export const requireHost = (agent: LiveAgent): void => {
  if (beforeLoss(agent) !== null) throw hostLost();
  if (isHostRemoved(agent))
    throw new DomainError(
      'conflict',
      'agent_failed',
      'The machine that held the agent was removed, and the agent with it. Create another agent.',
      { reason: 'host_removed' },
    );
};

export const hostLost = (): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The machine that runs the agent does not respond; try again later.',
  );

/** The host is back and has no processes of the agent. */
export const settleLostAbsence = (
  agent: LiveAgent,
  was: Life,
  { alwaysOn, at }: AgentCommandOf<'SettleAbsence'>,
): readonly AgentEvent[] => {
  const { agentId, epoch } = agent;
  const asleep = (reason: 'host_restarted' | Extract<Life, { state: 'sleeping' }>['reason']): AgentEvent => ({
    type: 'AgentFellAsleep',
    data: { agentId, epoch, depth: 'cold', reason, at },
  });
  // An agent that is always on starts again, unless it was put to sleep. If the host was lost during the first start of a
  // version, the next start runs that version.
  const withoutProcesses = (wasAwake: boolean): readonly AgentEvent[] =>
    wasAwake && alwaysOn
      ? starting(agent, 'recover', false, at)
      : [...adoptNext(agent, at), asleep('host_restarted')];
  switch (was.state) {
    case 'stopped':
      return [{ type: 'AgentStopped', data: { agentId, epoch, at } }];
    case 'stopping':
      return was.target === 'stopped'
        ? [{ type: 'AgentStopped', data: { agentId, epoch, at } }]
        : [asleep(was.reason)];
    case 'sleeping':
      return was.depth === 'warm' || (was.reason === 'host_shutdown' && alwaysOn)
        ? withoutProcesses(was.reason === 'host_shutdown')
        : [asleep(was.reason)];
    case 'deploying':
      return starting(agent, was.cause, false, at);
    case 'starting':
    case 'running':
    case 'failed':
      return withoutProcesses(true);
  }
};

/** The host is back and has processes of the agent at its current epoch. */
export const settleLostPresence = (
  agent: LiveAgent,
  was: Life,
  { frozen, at }: AgentCommandOf<'SettlePresence'>,
): readonly AgentEvent[] => {
  const { agentId, epoch, guest } = agent;
  // Thawed and frozen again, it sleeps as before.
  if ('cause' in was && !(was.thaw && frozen)) return [startingStill(agent, was, at)];
  if (frozen) {
    const reason = was.state === 'sleeping' ? was.reason : 'idle';
    const data = { agentId, epoch, depth: 'warm', reason, at } as const;
    return [...adoptNext(agent, at), { type: 'AgentFellAsleep', data }];
  }
  const ran: readonly AgentEvent[] =
    was.state === 'running' && was.seenAt !== undefined
      ? [{ type: 'AgentRanUnseen', data: { agentId, epoch, since: was.seenAt, at } }]
      : [];
  const started: AgentEvent = { type: 'AgentStarted', data: { agentId, epoch, guest, at } };
  return thenWithNext(agent, [...ran, started], at);
};

/** The host was lost before the latest start or stop reached it, and is back at an earlier epoch: decides that start or stop again. */
export const settleEarlierPresence = (
  agent: LiveAgent,
  was: Life,
  { frozen, at }: AgentCommandOf<'SettlePresence'>,
): readonly AgentEvent[] => {
  if (was.state === 'stopping') return stopping(agent, { ...was, at });
  if (was.state !== 'starting' && was.state !== 'deploying') return [];
  const { agentId, epoch } = agent;
  return frozen && was.cause === 'wake'
    ? [
        ...adoptNext(agent, at),
        { type: 'AgentFellAsleep', data: { agentId, epoch, depth: 'warm', reason: 'idle', at } },
      ]
    : starting(agent, was.cause, was.thaw, at);
};
