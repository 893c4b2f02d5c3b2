import type { Decider } from '@berth/kernel';
import type { ComputerCommand } from './computer.commands.js';
import { evolve, type Computer, type ComputerEvent, type LiveComputer } from './computer.js';
import { afterLastReport, failWithHost } from './decide-lost.js';
import {
  breakOffStart,
  confirmStarted,
  confirmStopped,
  failTransition,
  fallAsleep,
  reportCrashLoop,
  settleAbsence,
  settlePresence,
} from './decide-observed.js';
import { computerNotFound, create, sleep, stop, wake } from './decide-requested.js';

const decide = (command: ComputerCommand, computer: Computer): readonly ComputerEvent[] => {
  if (command.type === 'Create') return create(command, computer);
  if (command.type === 'ConfirmDeleted') {
    return computer.status === 'deleting'
      ? [{ type: 'ComputerDeleted', data: { computerId: computer.computerId, at: command.at } }]
      : [];
  }
  if (computer.status !== 'live') throw computerNotFound();
  // A report about an earlier epoch; one about the presence says what a lost host did not get to know.
  if (command.type === 'SettlePresence') return settlePresence(command, computer);
  if (command.type !== 'Stop' && 'epoch' in command && command.epoch !== computer.epoch) return [];
  return decideLive(command, computer);
};

type LiveCommand = Exclude<ComputerCommand, { type: 'Create' | 'ConfirmDeleted' | 'SettlePresence' }>;

const decideLive = (command: LiveCommand, computer: LiveComputer): readonly ComputerEvent[] => {
  switch (command.type) {
    case 'Wake':
      return wake(command, computer);
    case 'Sleep':
      return sleep(command, computer);
    case 'Stop':
      return stop(command, computer);
    case 'RequestDeletion':
      return [
        { type: 'ComputerDeletionRequested', data: { computerId: computer.computerId, at: command.at } },
      ];
    case 'ConfirmStarted':
      return confirmStarted(command, computer);
    case 'ConfirmStopped':
      return confirmStopped(command, computer);
    case 'FailTransition':
      return failTransition(command, computer);
    case 'BreakOffStart':
      return breakOffStart(command, computer);
    case 'FallAsleep':
      return fallAsleep(command, computer);
    case 'ReportCrashLoop':
      return reportCrashLoop(command, computer);
    case 'SettleAbsence':
      return afterLastReport(command, computer, settleAbsence(command, computer));
    case 'LoseHost':
    case 'RemoveHost':
      return afterLastReport(command, computer, failWithHost(command, computer));
  }
};

/** The rules of a computer's life. */
export const computerDecider: Decider<Computer, ComputerCommand, ComputerEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};
