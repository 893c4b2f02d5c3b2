import { EventStore } from '@berth/event-store';
import { logIdentity } from '@berth/messaging';
import type { FactoryProvider } from '@nestjs/common';

/** The identity of the current event log. The vault records it with each key; keys of another log are rejected. */
export class VaultLog {
  constructor(readonly id: string) {}
}

export const vaultLog: FactoryProvider<VaultLog> = {
  provide: VaultLog,
  inject: [EventStore],
  useFactory: async (store: EventStore) => new VaultLog(await logIdentity(store)),
};
