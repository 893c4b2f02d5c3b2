import { EventStore } from '@berth/event-store';
import { logIdentity } from '@berth/messaging';
import type { FactoryProvider } from '@nestjs/common';

/** The identity of the current event log. The vault records it with each key; keys of another log are rejected. */
export class EventLogIdentity {
  constructor(readonly id: string) {}
}

export const eventLogIdentity: FactoryProvider<EventLogIdentity> = {
  provide: EventLogIdentity,
  inject: [EventStore],
  useFactory: async (store: EventStore) => new EventLogIdentity(await logIdentity(store)),
};
