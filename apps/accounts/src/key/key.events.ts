import type { EventCodec } from '@berth/event-store';
import type { KeyEvent, KeyMinted, KeyRevoked, KeyScopesExtended } from './key.js';

type Stored<Event> = Omit<Event, 'type'>;

/** Codec of the streams `key-key_…`. */
export const keyCodec: EventCodec<KeyEvent> = {
  category: 'key',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    switch (type) {
      case 'KeyMinted':
        return { type, ...(data as unknown as Stored<KeyMinted>) };
      case 'KeyScopesExtended':
        return { type, ...(data as unknown as Stored<KeyScopesExtended>) };
      case 'KeyRevoked':
        return { type, ...(data as unknown as Stored<KeyRevoked>) };
      default:
        throw new Error(`A key stream holds an event of unknown type ${type}.`);
    }
  },
};
