import type { EventCodec } from '@berth/event-store';
import type {
  AccountChanged,
  AccountEvent,
  AccountOpened,
  AccountResumed,
  AccountSuspended,
} from './account.js';

type Stored<Event> = Omit<Event, 'type'>;

/** Every account of the first version is an installation's first account, which had no name. */
const FIRST_ACCOUNT_NAME = 'default';

/** The streams are named `account-acc_…`. */
export const accountCodec: EventCodec<AccountEvent> = {
  category: 'account',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    switch (type) {
      case 'AccountOpened':
        return {
          type: 'AccountOpened.v2',
          name: FIRST_ACCOUNT_NAME,
          ...(data as unknown as Omit<Stored<AccountOpened>, 'name'>),
        };
      case 'AccountOpened.v2':
        return { type, ...(data as unknown as Stored<AccountOpened>) };
      case 'AccountChanged':
        return { type, ...(data as unknown as Stored<AccountChanged>) };
      case 'AccountSuspended':
        return { type, ...(data as unknown as Stored<AccountSuspended>) };
      case 'AccountResumed':
        return { type, ...(data as unknown as Stored<AccountResumed>) };
      default:
        throw new Error(`An account stream holds an event of unknown type ${type}.`);
    }
  },
};
