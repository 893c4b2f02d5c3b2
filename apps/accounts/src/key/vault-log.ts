import { EventStore } from '@berth/event-store';
import { logIdentity } from '@berth/messaging';
import type { FactoryProvider } from '@nestjs/common';

/** The identity of the event log that the keys of the vault belong to. Keys of another log open nothing. */
export class VaultLog {
  constructor(readonly id: string) {}
}

export const vaultLog: FactoryProvider<VaultLog> = {
  provide: VaultLog,
  inject: [EventStore],
  useFactory: async (store: EventStore) => new VaultLog(await logIdentity(store)),
};
