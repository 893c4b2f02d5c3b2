import type { ComputerCommandOf } from './computer.commands.js';
import type { ComputerEvent, LiveComputer } from './computer.js';
import { settleEarlierPresence, settleLostAbsence, settleLostPresence } from './decide-lost.js';
import { beforeLoss, failed, fellAsleep, starting } from './life-events.js';

export const fallAsleep = (
  { depth, reason, at }: ComputerCommandOf<'FallAsleep'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { life } = computer;
  const deeper = life.state === 'sleeping' && life.depth === 'warm' && depth === 'cold';
  if (life.state !== 'running' && !deeper) return [];
  // A frozen computer was already asleep when its host stopped, so that the host's return must not start it.
  return [fellAsleep(computer, { depth, reason: deeper ? 'cooled' : reason, at })];
};

export const confirmStarted = (
  { at }: ComputerCommandOf<'ConfirmStarted'>,
  { life, computerId, epoch }: LiveComputer,
): readonly ComputerEvent[] =>
  life.state === 'starting' ? [{ type: 'ComputerStarted', data: { computerId, epoch, at } }] : [];

export const confirmStopped = (
  { at }: ComputerCommandOf<'ConfirmStopped'>,
  computer: LiveComputer,
): readonly ComputerEvent[] =>
  computer.life.state === 'stopping'
    ? [fellAsleep(computer, { depth: 'cold', reason: computer.life.reason, at })]
    : [];

export const failTransition = (
  { code, message, at }: ComputerCommandOf<'FailTransition'>,
  computer: LiveComputer,
): readonly ComputerEvent[] =>
  computer.life.state === 'starting' || computer.life.state === 'stopping'
    ? failed(computer, code, message, at)
    : [];

/** It sleeps again, so that it can be woken later. A new computer fails, or its start is tried until its deadline. */
export const breakOffStart = (
  { failure, at }: ComputerCommandOf<'BreakOffStart'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { life } = computer;
  if (life.state !== 'starting') return [];
  if (life.cause === 'create')
    return failure === null ? [] : failed(computer, failure.code, failure.message, at);
  return [fellAsleep(computer, { depth: 'cold', reason: 'host_unavailable', at })];
};

export const reportCrashLoop = (
  { message, at }: ComputerCommandOf<'ReportCrashLoop'>,
  computer: LiveComputer,
): readonly ComputerEvent[] =>
  computer.life.state === 'running' || computer.life.state === 'starting'
    ? failed(computer, 'desktop_failed', message, at)
    : [];

/** The host does not have it: its processes ended when the machine or the host's process did. */
export const settleAbsence = (
  command: ComputerCommandOf<'SettleAbsence'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { at } = command;
  const was = beforeLoss(computer);
  if (was !== null) return settleLostAbsence(computer, was, at);
  const { life } = computer;
  if (isToRun(computer)) return starting(computer, 'wake', false, at);
  if (life.state !== 'running' && !(life.state === 'sleeping' && life.depth === 'warm')) return [];
  return [fellAsleep(computer, { depth: 'cold', reason: 'host_restarted', at })];
};

/** Whether it never sleeps by itself, and is asleep only because its host stopped. */
const isToRun = ({ life, profile }: LiveComputer): boolean =>
  profile.idleTtlSeconds === 0 &&
  (life.state === 'running' || (life.state === 'sleeping' && life.reason === 'host_shutdown'));

export const settlePresence = (
  command: ComputerCommandOf<'SettlePresence'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  const { epoch, frozen, at } = command;
  const was = beforeLoss(computer);
  if (was !== null && epoch < computer.epoch) return settleEarlierPresence(computer, was, command);
  if (epoch !== computer.epoch) return [];
  if (was !== null) return settleLostPresence(computer, was, command);
  return frozen && computer.life.state === 'running'
    ? [fellAsleep(computer, { depth: 'warm', reason: 'idle', at })]
    : [];
};
