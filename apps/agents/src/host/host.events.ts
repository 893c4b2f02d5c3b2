import type { EventCodec } from '@berth/event-store';
import type { HostEvent } from './host.js';

const STORED_TYPES: ReadonlySet<string> = new Set<HostEvent['type']>([
  'HostJoined',
  'HostDrained',
  'HostResumed',
  'HostRemoved',
]);

const isHostEvent = (stored: { readonly type: string }): stored is HostEvent => STORED_TYPES.has(stored.type);

/** Streams `host-hst_…`. */
export const hostCodec: EventCodec<HostEvent> = {
  category: 'host',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isHostEvent(stored))
      throw new Error(`The host stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
