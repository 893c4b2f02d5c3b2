import { DomainError } from '@berth/kernel';
import type { ComputerCommandOf } from './computer.commands.js';
import type { Computer, ComputerEvent, LiveComputer } from './computer.js';
import { isLost, isRemoved, starting, stopping } from './life-events.js';

export const computerNotFound = (): DomainError =>
  new DomainError('not_found', 'computer_not_found', 'There is no such computer.');

/** Has no effect if the computer exists: whoever finds its end user's claim may have completed its creation. */
export const create = (
  command: ComputerCommandOf<'Create'>,
  computer: Computer,
): readonly ComputerEvent[] => {
  if (computer.status === 'live') return [];
  if (computer.status !== 'absent') throw computerNotFound();
  const { computerId, profile, host, at } = command;
  return [
    { type: 'ComputerCreated', data: { computerId, ...profile, at } },
    ...starting({ computerId, epoch: 0, host }, 'create', false, at),
  ];
};

/** Errors: conflict `computer_failed`; unavailable `computer_unavailable` while its host is lost. */
export const wake = (
  { refusedEpoch, retry, at }: ComputerCommandOf<'Wake'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { life, epoch } = computer;
  switch (life.state) {
    case 'starting':
      return [];
    case 'running':
      // The host has frozen it, and its report has not arrived yet.
      return refusedEpoch === epoch ? starting(computer, 'wake', true, at) : [];
    case 'sleeping':
      return starting(computer, 'wake', life.depth === 'warm', at);
    case 'stopping':
      return starting(computer, 'wake', false, at);
    case 'failed':
      if (!retry || isRemoved(computer)) throw computerFailed(computer, life.message);
      if (isLost(computer))
        throw new DomainError(
          'unavailable',
          'computer_unavailable',
          'The machine that runs the computer does not respond; try again later.',
        );
      return starting(computer, 'wake', false, at);
  }
};

const computerFailed = (computer: LiveComputer, message: string): DomainError =>
  new DomainError(
    'conflict',
    'computer_failed',
    isRemoved(computer)
      ? 'The machine that held the computer was removed, and the computer with it. Create another computer.'
      : `The computer has failed: ${message} Wake it to try again.`,
  );

/** The event holds the epoch of the first decision, so that a repeated command cannot freeze it at a later epoch. */
export const sleep = (
  { warm, at }: ComputerCommandOf<'Sleep'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { computerId, epoch, host, life } = computer;
  if (warm && life.state === 'running')
    return [{ type: 'ComputerSleepRequested', data: { computerId, epoch, host, at } }];
  return stop({ type: 'Stop', reason: 'requested', at }, computer);
};

export const stop = (
  command: ComputerCommandOf<'Stop'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { life, epoch } = computer;
  if (command.epoch !== undefined && command.epoch !== epoch) return [];
  // Nothing of a failed computer runs; what its owner gets to know of it stays true.
  if (life.state === 'stopping' || life.state === 'sleeping' || life.state === 'failed') return [];
  return stopping(computer, command);
};
