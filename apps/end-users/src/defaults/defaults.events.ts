import { endUsersEvents } from '@berth/contracts/end-users';
import type { EventCodec, RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import type { DefaultsEvent } from './defaults.js';

/** Codec of the streams `endUserDefaults-acc_…`. */
export const defaultsCodec: EventCodec<DefaultsEvent> = {
  category: 'endUserDefaults',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'EndUserDefaultsSet' && type !== 'EndUserDefaultsRemoved')
      throw new Error(`No event of an account's defaults has the type ${type}.`);
    return { type, ...data } as unknown as DefaultsEvent;
  },
};

/** Returns the public part of an event. */
export const toDefaultsContractEvent = (recorded: RecordedEvent): ContractEvent => {
  const event = defaultsCodec.fromStored(recorded);
  const { accountId, at } = event;
  const policy = event.type === 'EndUserDefaultsSet' ? event.policy : null;
  const about = { accountId, subjectId: accountId };
  return contractEvent(endUsersEvents.defaultsChanged, about, { accountId, policy, at });
};
