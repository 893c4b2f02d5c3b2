import type { AgentCommand, AgentCommandOf } from './agent.commands.js';
import type { AgentEvent, Life, LiveAgent, Resources, StartingLife } from './agent.js';
import { haveSameSizes } from './sizes.js';
import { isUntried } from './agent-versions.js';
import { beforeLoss, settleEarlierPresence, settleLostAbsence, settleLostPresence } from './decide-lost.js';
import { adoptNext, failed, startFailed, starting, thenWithNext } from './agent-starting.js';

/** After this many recoveries within the window, a crash fails the agent instead of starting it again. */
export const MAX_RECOVERIES = 5;
export const RECOVERY_WINDOW_SECONDS = 600;

/** An agent that started this recently is started again when its host returns: its caller may still wait for it. */
const AWAITED_SECONDS = 120;

export const fallAsleep = (
  command: AgentCommandOf<'FallAsleep'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const { state } = agent.life;
  const deeper = state === 'sleeping' && agent.life.depth === 'warm' && command.depth === 'cold';
  if (state !== 'running' && !deeper) return [];
  const { epoch, depth, at } = command;
  // A frozen agent was already asleep when its host stopped, so the host's return must not start it.
  const reason = deeper ? 'cooled' : command.reason;
  return [{ type: 'AgentFellAsleep', data: { agentId: agent.agentId, epoch, depth, reason, at } }];
};

export const crash = (command: AgentCommandOf<'ReportCrash'>, agent: LiveAgent): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  if (agent.life.state === 'sleeping' && agent.life.depth === 'warm') {
    return [
      {
        type: 'AgentFellAsleep',
        data: { agentId: agent.agentId, epoch: agent.epoch, depth: 'cold', reason: 'cooled', at: command.at },
      },
    ];
  }
  if (agent.life.state !== 'running') return [];
  const since = Date.parse(command.at) - RECOVERY_WINDOW_SECONDS * 1000;
  const recent = agent.recoveries.filter((at) => Date.parse(at) > since).length;
  if (recent >= MAX_RECOVERIES) return failed(agent, 'agent_crash_loop', command.message, command.at);
  return starting(agent, 'recover', false, command.at);
};

/** The host does not have the agent: its processes ended when the machine or the host's process did. */
export const settleAbsence = (
  command: AgentCommandOf<'SettleAbsence'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const was = beforeLoss(agent);
  if (was !== null) return settleLostAbsence(agent, was, command);
  const { life, agentId, epoch } = agent;
  const shutDown =
    life.state === 'sleeping' && (life.reason === 'host_shutdown' || life.reason === 'host_unavailable');
  const awaited =
    life.state === 'running' && Date.parse(command.at) - Date.parse(agent.since) < AWAITED_SECONDS * 1000;
  if (awaited || (command.alwaysOn && (life.state === 'running' || shutDown)))
    return starting(agent, 'recover', false, command.at);
  if (life.state !== 'running' && !(life.state === 'sleeping' && life.depth === 'warm')) return [];
  return [
    {
      type: 'AgentFellAsleep',
      data: { agentId, epoch, depth: 'cold', reason: 'host_restarted', at: command.at },
    },
  ];
};

export const settlePresence = (
  command: AgentCommandOf<'SettlePresence'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  const was = beforeLoss(agent);
  if (was !== null && command.epoch < agent.epoch) return settleEarlierPresence(agent, was, command);
  if (command.epoch !== agent.epoch) return [];
  if (was !== null) return settleLostPresence(agent, was, command);
  const { life, agentId, epoch } = agent;
  return command.frozen && life.state === 'running'
    ? [{ type: 'AgentFellAsleep', data: { agentId, epoch, depth: 'warm', reason: 'idle', at: command.at } }]
    : [];
};

type EpochCommand = AgentCommandOf<
  | 'ConfirmStarted'
  | 'FailTransition'
  | 'BreakOffStart'
  | 'ConfirmStopped'
  | 'ReportCrashLoop'
  | 'ReportOutOfMemory'
>;

const AT_EPOCH: Readonly<Record<EpochCommand['type'], true>> = {
  ConfirmStarted: true,
  FailTransition: true,
  BreakOffStart: true,
  ConfirmStopped: true,
  ReportCrashLoop: true,
  ReportOutOfMemory: true,
};

export const isAtEpoch = (command: AgentCommand): command is EpochCommand => command.type in AT_EPOCH;

/** Decides on a host's report about an epoch; ignores reports about old epochs. */
export const atEpoch = (command: EpochCommand, agent: LiveAgent): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  switch (command.type) {
    case 'ConfirmStarted':
      return confirmStarted(command, agent);
    case 'FailTransition':
      return failTransition(command, agent);
    case 'BreakOffStart':
      return breakOffStart(command, agent);
    case 'ReportCrashLoop':
      return agent.life.state === 'running'
        ? failed(agent, 'agent_crash_loop', command.message, command.at)
        : failTransition({ ...command, type: 'FailTransition', code: 'agent_crash_loop' }, agent, false);
    case 'ConfirmStopped':
      return confirmStopped(command, agent);
    case 'ReportOutOfMemory':
      return outOfMemory(command, agent);
  }
};

const confirmStarted = (
  { guest, resources, at }: AgentCommandOf<'ConfirmStarted'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  const { life, agentId, epoch, versions } = agent;
  if (!isStarting(life)) return [];
  const confirmed: readonly AgentEvent[] = [
    ...(isUntried(versions, life.version) ? adoptNext(agent, at) : []),
    ...resized(agent, resources ?? agent.sizes, at),
    ...(life.thaw && resources !== undefined ? [startedAnew(agent, at)] : []),
    { type: 'AgentStarted', data: { agentId, epoch, guest, at } },
  ];
  return thenWithNext(agent, confirmed, at);
};

const startedAnew = ({ agentId, epoch }: LiveAgent, at: string): AgentEvent => ({
  type: 'AgentStartedAnew',
  data: { agentId, epoch, at },
});

const resized = (
  { agentId, epoch, sizes }: LiveAgent,
  resources: Resources,
  at: string,
): readonly AgentEvent[] =>
  haveSameSizes(resources, sizes) ? [] : [{ type: 'AgentResized', data: { agentId, epoch, resources, at } }];

/** The agent keeps running: its guest restarts the program. */
const outOfMemory = (
  { message, at }: AgentCommandOf<'ReportOutOfMemory'>,
  { life, agentId, epoch }: LiveAgent,
): readonly AgentEvent[] =>
  life.state === 'running' ? [{ type: 'AgentRanOutOfMemory', data: { agentId, epoch, message, at } }] : [];

const failTransition = (
  { code, message, at }: AgentCommandOf<'FailTransition'>,
  agent: LiveAgent,
  whileStopping = true,
): readonly AgentEvent[] => {
  if (isStarting(agent.life)) return startFailed(agent, code, message, at);
  return agent.life.state === 'stopping' && whileStopping ? failed(agent, code, message, at) : [];
};

/**
 * Returns the agent to its state before the start, so that it can be started later. A new agent has no earlier state: it
 * fails, or its start is retried until its deadline.
 */
const breakOffStart = (
  { failure, at }: AgentCommandOf<'BreakOffStart'>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  const { life, agentId, epoch } = agent;
  if (!isStarting(life)) return [];
  if (life.cause === 'deploy')
    return failure === null ? [] : startFailed(agent, failure.code, failure.message, at);
  // If this was the first start of a version, or one was built meanwhile, the next start runs that version.
  return [
    ...adoptNext(agent, at),
    life.cause === 'start'
      ? { type: 'AgentStopped', data: { agentId, epoch, at } }
      : { type: 'AgentFellAsleep', data: { agentId, epoch, depth: 'cold', reason: 'host_unavailable', at } },
  ];
};

const confirmStopped = (
  { at }: AgentCommandOf<'ConfirmStopped'>,
  { life, agentId, epoch }: LiveAgent,
): readonly AgentEvent[] => {
  if (life.state !== 'stopping') return [];
  return life.target === 'stopped'
    ? [{ type: 'AgentStopped', data: { agentId, epoch, at } }]
    : [{ type: 'AgentFellAsleep', data: { agentId, epoch, depth: 'cold', reason: life.reason, at } }];
};

const isStarting = (life: Life): life is StartingLife =>
  life.state === 'deploying' || life.state === 'starting';
