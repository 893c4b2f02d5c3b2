import { DomainError, type Decider } from '@berth/kernel';
import type { AgentCommand, AgentCommandOf } from './agent.commands.js';
import { evolve, type Agent, type AgentEvent, type LiveAgent } from './agent.js';
import { atEpoch, crash, fallAsleep, isAtEpoch, settlePresence, settleAbsence } from './decide-observed.js';
import { afterLastReport, failWithHost, requireHost } from './decide-lost.js';
import { prepareVersion } from './decide-versions.js';
import { abandonCreation, create, sleep, start, stop, wake } from './decide-requested.js';

const notFound = (): DomainError =>
  new DomainError('not_found', 'agent_not_found', 'There is no such agent.');

/** Commands of the owner that only the agent's host can carry out. */
const OWNERS: ReadonlySet<AgentCommand['type']> = new Set(['Start', 'Wake', 'Stop', 'Sleep']);

const decide = (command: AgentCommand, agent: Agent): readonly AgentEvent[] => {
  if (command.type === 'Create') return create(command, agent);
  if (command.type === 'AbandonCreation') return abandonCreation(command, agent);
  if (command.type === 'ConfirmDeleted') {
    return agent.status === 'deleting'
      ? [{ type: 'AgentDeleted', data: { agentId: agent.agentId, at: command.at } }]
      : [];
  }
  if (agent.status !== 'live') throw notFound();
  if (command.type === 'PrepareVersion') return prepareVersion(command, agent);
  if (command.type === 'LoseHost' || command.type === 'RemoveHost')
    return afterLastReport(command, agent, failWithHost(command, agent));
  if (OWNERS.has(command.type)) requireHost(agent);
  return decideLive(command, agent);
};

type LiveCommand = Exclude<
  AgentCommand,
  { type: 'Create' | 'AbandonCreation' | 'ConfirmDeleted' | 'PrepareVersion' | 'LoseHost' | 'RemoveHost' }
>;

const decideLive = (command: LiveCommand, agent: LiveAgent): readonly AgentEvent[] => {
  if (isAtEpoch(command)) return atEpoch(command, agent);
  switch (command.type) {
    case 'Start':
      return ifAdmitted(command, agent, start(command, agent));
    case 'Wake':
      return ifAdmitted(command, agent, wake(command, agent));
    case 'Stop':
      return stop(command, agent);
    case 'Sleep':
      return sleep(command, agent);
    case 'FallAsleep':
      return fallAsleep(command, agent);
    case 'ReportCrash':
      return crash(command, agent);
    case 'SettleAbsence':
      return afterLastReport(command, agent, settleAbsence(command, agent));
    case 'SettlePresence':
      return settlePresence(command, agent);
    case 'RequestDeletion':
      return [{ type: 'AgentDeletionRequested', data: { agentId: agent.agentId, at: command.at } }];
  }
};

/** Its caller has the start admitted again. */
const ifAdmitted = (
  { admittedAt }: AgentCommandOf<'Start' | 'Wake'>,
  { epoch }: LiveAgent,
  events: readonly AgentEvent[],
): readonly AgentEvent[] => (admittedAt === undefined || admittedAt === epoch ? events : []);

/** The rules of an agent's life. */
export const agentDecider: Decider<Agent, AgentCommand, AgentEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};
