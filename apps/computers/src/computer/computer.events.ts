import type { EventCodec } from '@berth/event-store';
import type { ComputerEvent } from './computer.js';

const TYPES: ReadonlySet<string> = new Set<ComputerEvent['type']>([
  'ComputerCreated',
  'ComputerStarting',
  'ComputerStarted',
  'ComputerSleepRequested',
  'ComputerStopping',
  'ComputerFellAsleep',
  'ComputerFailed',
  'ComputerUnseen',
  'ComputerRanUnseen',
  'ComputerDeletionRequested',
  'ComputerDeleted',
]);

const isComputerEvent = (stored: { readonly type: string }): stored is ComputerEvent =>
  TYPES.has(stored.type);

/** Codec of the streams `computer-cmp_…`. */
export const computerCodec: EventCodec<ComputerEvent> = {
  category: 'computer',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (isComputerEvent(stored)) return stored;
    throw new Error(`The stream of a computer holds an event of unknown type ${stored.type}.`);
  },
};
