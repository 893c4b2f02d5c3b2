import type { ComputerEvent, Life, LiveComputer, StartCause, StopReason } from './computer.js';

/** The first start may fetch what the host needs for desktops. */
const CREATE_DEADLINE_SECONDS = 900;
const WAKE_DEADLINE_SECONDS = 60;
const STOP_DEADLINE_SECONDS = 30;

export const after = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1_000).toISOString();

/** A start at the next epoch, on the host that holds the home folder. */
export const starting = (
  { computerId, epoch, host }: Pick<LiveComputer, 'computerId' | 'epoch' | 'host'>,
  cause: StartCause,
  thaw: boolean,
  at: string,
): readonly ComputerEvent[] => [
  {
    type: 'ComputerStarting',
    data: {
      ...{ computerId, epoch: epoch + 1, host, cause, thaw },
      deadline: after(at, cause === 'create' ? CREATE_DEADLINE_SECONDS : WAKE_DEADLINE_SECONDS),
      at,
    },
  },
];

/** Stops the computer at the next epoch. */
export const stopping = (
  { computerId, epoch }: LiveComputer,
  { reason, at }: { readonly reason: StopReason; readonly at: string },
): readonly ComputerEvent[] => [
  {
    type: 'ComputerStopping',
    data: { computerId, epoch: epoch + 1, reason, deadline: after(at, STOP_DEADLINE_SECONDS), at },
  },
];

export const fellAsleep = (
  { computerId, epoch }: LiveComputer,
  data: Omit<Extract<ComputerEvent, { type: 'ComputerFellAsleep' }>['data'], 'computerId' | 'epoch'>,
): ComputerEvent => ({ type: 'ComputerFellAsleep', data: { computerId, epoch, ...data } });

export const failed = (
  { computerId, epoch }: LiveComputer,
  code: string,
  message: string,
  at: string,
): readonly ComputerEvent[] => [{ type: 'ComputerFailed', data: { computerId, epoch, code, message, at } }];

/** The computer's state at the time its host was lost; null if its host is not lost. */
export const beforeLoss = ({ life }: LiveComputer): Life | null =>
  life.state === 'failed' && life.code === 'host_lost' ? (life.was ?? { state: 'running' }) : null;

/** Whether its host does not respond. */
export const isLost = (computer: LiveComputer): boolean => beforeLoss(computer) !== null;

/** Whether an operator has removed its host, and with it its files. */
export const isRemoved = ({ life }: LiveComputer): boolean =>
  life.state === 'failed' && life.code === 'host_removed';
