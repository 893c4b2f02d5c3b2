import type { EventCodec } from '@berth/event-store';
import type { AccountEvent, AccountOpened } from './account.js';

type Stored<Event> = Omit<Event, 'type'>;

/** The streams are named `account-acc_…`. */
export const accountCodec: EventCodec<AccountEvent> = {
  category: 'account',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    switch (type) {
      case 'AccountOpened':
        return { type, ...(data as unknown as Stored<AccountOpened>) };
      default:
        throw new Error(`An account stream holds an event of unknown type ${type}.`);
    }
  },
};
