import { DomainError, type Decider } from '@berth/kernel';
import {
  evolve,
  type Agent,
  type AgentEvent,
  type Guest,
  type LiveAgent,
  type Profile,
  type SleepReason,
  type StartCause,
} from './agent.js';

/** Deadlines of the transient states in seconds (contract §3). */
export const DEPLOY_DEADLINE_SECONDS = 900;
export const START_DEADLINE_SECONDS = 60;
export const STOP_DEADLINE_SECONDS = 30;

/** So many crashes within the window, and the agent is failed instead of started again. */
export const MAX_RECOVERIES = 5;
export const RECOVERY_WINDOW_SECONDS = 600;

export type AgentCommand =
  | {
      readonly type: 'Create';
      readonly agentId: string;
      readonly profile: Profile;
      readonly host: string;
      readonly at: string;
    }
  | { readonly type: 'AbandonCreation'; readonly agentId: string; readonly at: string }
  | { readonly type: 'Start'; readonly cause: 'start' | 'restart'; readonly at: string }
  | { readonly type: 'Wake'; readonly refusedEpoch: number | null; readonly at: string }
  | { readonly type: 'ConfirmStarted'; readonly epoch: number; readonly guest: Guest; readonly at: string }
  | {
      readonly type: 'FailTransition';
      readonly epoch: number;
      readonly code: string;
      readonly message: string;
      readonly at: string;
    }
  | { readonly type: 'Stop'; readonly target: 'stopped' | 'sleeping'; readonly at: string }
  | { readonly type: 'ConfirmStopped'; readonly epoch: number; readonly at: string }
  | {
      readonly type: 'FallAsleep';
      readonly epoch: number;
      readonly depth: 'warm' | 'cold';
      readonly reason: SleepReason;
      readonly at: string;
    }
  | { readonly type: 'ReportCrash'; readonly epoch: number; readonly message: string; readonly at: string }
  | {
      readonly type: 'ReportCrashLoop';
      readonly epoch: number;
      readonly message: string;
      readonly at: string;
    }
  | { readonly type: 'LoseHost'; readonly at: string }
  | { readonly type: 'SettleAbsence'; readonly epoch: number; readonly at: string }
  | { readonly type: 'FindAgain'; readonly epoch: number; readonly frozen: boolean; readonly at: string }
  | { readonly type: 'RequestDeletion'; readonly at: string }
  | { readonly type: 'ConfirmDeleted'; readonly at: string };

const notFound = (): DomainError =>
  new DomainError('not_found', 'agent_not_found', 'There is no such agent.');

const after = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1000).toISOString();

const decide = (command: AgentCommand, agent: Agent): readonly AgentEvent[] => {
  if (command.type === 'Create') return create(command, agent);
  if (command.type === 'AbandonCreation') {
    return agent.status === 'absent'
      ? [{ type: 'AgentCreationAbandoned', data: { agentId: command.agentId, at: command.at } }]
      : [];
  }
  if (command.type === 'ConfirmDeleted') {
    return agent.status === 'deleting'
      ? [{ type: 'AgentDeleted', data: { agentId: agent.agentId, at: command.at } }]
      : [];
  }
  if (agent.status !== 'live') throw notFound();
  return decideLive(command, agent);
};

type LiveCommand = Exclude<AgentCommand, { type: 'Create' | 'AbandonCreation' | 'ConfirmDeleted' }>;

const decideLive = (command: LiveCommand, agent: LiveAgent): readonly AgentEvent[] => {
  switch (command.type) {
    case 'Start':
      return start(command, agent);
    case 'Wake':
      return wake(command, agent);
    case 'Stop':
      return stop(command, agent);
    case 'FallAsleep':
      return fallAsleep(command, agent);
    case 'ReportCrash':
      return crash(command, agent);
    case 'LoseHost':
      return loseHost(command, agent);
    case 'SettleAbsence':
      return settleAbsence(command, agent);
    case 'FindAgain':
      return findAgain(command, agent);
    case 'RequestDeletion':
      return [{ type: 'AgentDeletionRequested', data: { agentId: agent.agentId, at: command.at } }];
    case 'ConfirmStarted':
    case 'FailTransition':
    case 'ConfirmStopped':
    case 'ReportCrashLoop':
      return atEpoch(command, agent);
  }
};

const create = (command: Extract<AgentCommand, { type: 'Create' }>, agent: Agent): readonly AgentEvent[] => {
  if (agent.status === 'live') return [];
  if (agent.status !== 'absent')
    throw new DomainError('conflict', 'agent_creation_abandoned', 'Creating took too long; try again.');
  const { agentId, profile, at } = command;
  return [
    { type: 'AgentCreated', data: { agentId, ...profile, at } },
    {
      type: 'AgentStarting',
      data: {
        agentId,
        epoch: 1,
        host: command.host,
        cause: 'deploy',
        thaw: false,
        deadline: after(at, DEPLOY_DEADLINE_SECONDS),
        at,
      },
    },
  ];
};

const starting = (agent: LiveAgent, cause: StartCause, thaw: boolean, at: string): readonly AgentEvent[] => {
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

const start = (
  command: Extract<AgentCommand, { type: 'Start' }>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  const { life } = agent;
  if (command.cause === 'start') {
    if (life.state === 'running' || life.state === 'starting' || life.state === 'deploying') return [];
    return starting(agent, 'start', life.state === 'sleeping' && life.depth === 'warm', command.at);
  }
  // A restart asked for while one goes on is that one.
  if (life.state === 'deploying' || (life.state === 'starting' && life.cause === 'restart')) return [];
  return starting(agent, 'restart', false, command.at);
};

const wake = (command: Extract<AgentCommand, { type: 'Wake' }>, agent: LiveAgent): readonly AgentEvent[] => {
  const { life } = agent;
  switch (life.state) {
    case 'sleeping':
      return starting(agent, 'wake', life.depth === 'warm', command.at);
    case 'running':
      // The host froze it and its report is still under way.
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
      // Falling asleep loses against a wake; a stop is not undone by itself.
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

const stop = (command: Extract<AgentCommand, { type: 'Stop' }>, agent: LiveAgent): readonly AgentEvent[] => {
  const { life, agentId } = agent;
  if (life.state === 'stopping' && life.target === command.target) return [];
  if (command.target === 'stopped' && life.state === 'stopped') return [];
  if (command.target === 'sleeping') {
    if (life.state === 'sleeping') return [];
    if (life.state === 'stopped' || (life.state === 'failed' && life.code !== 'host_lost')) {
      return [
        {
          type: 'AgentFellAsleep',
          data: { agentId, epoch: agent.epoch, depth: 'cold', reason: 'requested', at: command.at },
        },
      ];
    }
  }
  const deadline = after(command.at, STOP_DEADLINE_SECONDS);
  return [
    {
      type: 'AgentStopping',
      data: { agentId, epoch: agent.epoch + 1, target: command.target, deadline, at: command.at },
    },
  ];
};

const fallAsleep = (
  command: Extract<AgentCommand, { type: 'FallAsleep' }>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const { state } = agent.life;
  const deeper = state === 'sleeping' && agent.life.depth === 'warm' && command.depth === 'cold';
  if (state !== 'running' && !deeper) return [];
  const { epoch, depth, reason, at } = command;
  return [{ type: 'AgentFellAsleep', data: { agentId: agent.agentId, epoch, depth, reason, at } }];
};

const crash = (
  command: Extract<AgentCommand, { type: 'ReportCrash' }>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
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

/** The host has nothing of an agent it should have: processes went with the machine or the host's end. */
const settleAbsence = (
  command: Extract<AgentCommand, { type: 'SettleAbsence' }>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const { life, agentId, epoch } = agent;
  const lost = life.state === 'failed' && life.code === 'host_lost';
  if (life.state !== 'running' && !lost && !(life.state === 'sleeping' && life.depth === 'warm')) return [];
  if (agent.profile.idleTtlSeconds === 0 && life.state !== 'sleeping')
    return starting(agent, 'recover', false, command.at);
  return [
    {
      type: 'AgentFellAsleep',
      data: { agentId, epoch, depth: 'cold', reason: 'host_restarted', at: command.at },
    },
  ];
};

const findAgain = (
  command: Extract<AgentCommand, { type: 'FindAgain' }>,
  agent: LiveAgent,
): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const { life, agentId, epoch } = agent;
  const lost = life.state === 'failed' && life.code === 'host_lost';
  if (command.frozen) {
    if (life.state !== 'running' && !lost) return [];
    return [
      { type: 'AgentFellAsleep', data: { agentId, epoch, depth: 'warm', reason: 'idle', at: command.at } },
    ];
  }
  return lost ? [{ type: 'AgentStarted', data: { agentId, epoch, guest: agent.guest, at: command.at } }] : [];
};

const loseHost = (
  command: Extract<AgentCommand, { type: 'LoseHost' }>,
  agent: LiveAgent,
): readonly AgentEvent[] =>
  agent.life.state === 'running'
    ? failed(agent, 'host_lost', 'The machine that runs the agent does not answer.', command.at)
    : [];

const failed = (agent: LiveAgent, code: string, message: string, at: string): readonly AgentEvent[] => [
  { type: 'AgentFailed', data: { agentId: agent.agentId, epoch: agent.epoch, code, message, at } },
];

type EpochCommand = Extract<
  AgentCommand,
  { type: 'ConfirmStarted' | 'FailTransition' | 'ConfirmStopped' | 'ReportCrashLoop' }
>;

/** What the host tells of an epoch: an old epoch changes nothing any more. */
const atEpoch = (command: EpochCommand, agent: LiveAgent): readonly AgentEvent[] => {
  if (command.epoch !== agent.epoch) return [];
  const { life, agentId, epoch } = agent;
  const transient = life.state === 'deploying' || life.state === 'starting';
  switch (command.type) {
    case 'ConfirmStarted':
      return transient
        ? [{ type: 'AgentStarted', data: { agentId, epoch, guest: command.guest, at: command.at } }]
        : [];
    case 'FailTransition':
      return transient || life.state === 'stopping'
        ? failed(agent, command.code, command.message, command.at)
        : [];
    case 'ReportCrashLoop':
      return transient || life.state === 'running'
        ? failed(agent, 'agent_crash_loop', command.message, command.at)
        : [];
    case 'ConfirmStopped':
      if (life.state !== 'stopping') return [];
      return life.target === 'stopped'
        ? [{ type: 'AgentStopped', data: { agentId, epoch, at: command.at } }]
        : [
            {
              type: 'AgentFellAsleep',
              data: { agentId, epoch, depth: 'cold', reason: 'requested', at: command.at },
            },
          ];
  }
};

/** The rules of an agent's life (contract §3). */
export const agentDecider: Decider<Agent, AgentCommand, AgentEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};
