import type { ComputerCommandOf } from './computer.commands.js';
import type { ComputerEvent, Life, LiveComputer } from './computer.js';
import { after, failed, fellAsleep, isRemoved, starting, stopping } from './life-events.js';

const GOES_ON_FOR_SECONDS = 60;

/**
 * Precedes `events` with `ComputerUnseen` if the computer ran when its host fell silent: it is known to have run only
 * until the host's last report.
 */
export const afterLastReport = (
  { seenAt, at }: ComputerCommandOf<'LoseHost' | 'RemoveHost' | 'SettleAbsence'>,
  { computerId, epoch, life, since }: LiveComputer,
  events: readonly ComputerEvent[],
): readonly ComputerEvent[] => {
  if (events.length === 0 || life.state !== 'running' || seenAt === undefined) return events;
  const last = Date.parse(seenAt) > Date.parse(since) ? seenAt : since;
  if (Date.parse(last) >= Date.parse(at)) return events;
  return [{ type: 'ComputerUnseen', data: { computerId, epoch, since: last, at } }, ...events];
};

/**
 * `LoseHost`: the host is silent, and may still run the computer. `RemoveHost`: an operator has given up the host, and
 * with it the home folder.
 */
export const failWithHost = (
  { type, at }: ComputerCommandOf<'LoseHost' | 'RemoveHost'>,
  computer: LiveComputer,
): readonly ComputerEvent[] => {
  if (type === 'RemoveHost')
    return isRemoved(computer)
      ? []
      : failed(computer, 'host_removed', 'The machine that held the computer was removed.', at);
  return computer.life.state === 'failed'
    ? []
    : failed(computer, 'host_lost', 'The machine that runs the computer does not respond.', at);
};

/** The host is back and has no processes of the computer. */
export const settleLostAbsence = (
  computer: LiveComputer,
  was: Life,
  at: string,
): readonly ComputerEvent[] => {
  switch (was.state) {
    case 'stopping':
      return [fellAsleep(computer, { depth: 'cold', reason: was.reason, at })];
    case 'sleeping':
      return was.depth === 'cold' && !(was.reason === 'host_shutdown' && isAlwaysOn(computer))
        ? [fellAsleep(computer, { depth: 'cold', reason: was.reason, at })]
        : withoutProcesses(computer, was.reason === 'host_shutdown', at);
    case 'starting':
      return was.cause === 'create'
        ? starting(computer, 'create', false, at)
        : withoutProcesses(computer, true, at);
    case 'running':
    case 'failed':
      return withoutProcesses(computer, true, at);
  }
};

const isAlwaysOn = ({ profile }: LiveComputer): boolean => profile.idleTtlSeconds === 0;

const withoutProcesses = (computer: LiveComputer, wasAwake: boolean, at: string): readonly ComputerEvent[] =>
  wasAwake && isAlwaysOn(computer)
    ? starting(computer, 'wake', false, at)
    : [fellAsleep(computer, { depth: 'cold', reason: 'host_restarted', at })];

/** The host is back and has processes of the computer at its current epoch. */
export const settleLostPresence = (
  computer: LiveComputer,
  was: Life,
  { frozen, at }: ComputerCommandOf<'SettlePresence'>,
): readonly ComputerEvent[] => {
  const { computerId, epoch, host } = computer;
  // Thawed and frozen again, it sleeps as before.
  if (was.state === 'starting' && !(was.thaw && frozen)) {
    const least = after(at, GOES_ON_FOR_SECONDS);
    const deadline = Date.parse(was.deadline) > Date.parse(least) ? was.deadline : least;
    const { cause, thaw } = was;
    // Asked again at the same epoch, the host says how the start ended.
    return [{ type: 'ComputerStarting', data: { computerId, epoch, host, cause, thaw, deadline, at } }];
  }
  if (frozen) {
    const reason = was.state === 'sleeping' ? was.reason : 'idle';
    return [fellAsleep(computer, { depth: 'warm', reason, at })];
  }
  const ran: readonly ComputerEvent[] =
    was.state === 'running' && was.seenAt !== undefined
      ? [{ type: 'ComputerRanUnseen', data: { computerId, epoch, since: was.seenAt, at } }]
      : [];
  return [...ran, { type: 'ComputerStarted', data: { computerId, epoch, at } }];
};

/** The host was lost before the latest start or stop reached it, and is back at an earlier epoch: decides it again. */
export const settleEarlierPresence = (
  computer: LiveComputer,
  was: Life,
  { frozen, at }: ComputerCommandOf<'SettlePresence'>,
): readonly ComputerEvent[] => {
  if (was.state === 'stopping') return stopping(computer, { ...was, at });
  if (was.state !== 'starting') return [];
  return frozen && was.cause === 'wake'
    ? [fellAsleep(computer, { depth: 'warm', reason: 'idle', at })]
    : starting(computer, was.cause, was.thaw, at);
};
