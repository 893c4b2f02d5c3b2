import { createHash } from 'node:crypto';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { newId, systemClock, type CommandEnvelope } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { createLogger, type Logger } from '@berth/telemetry';
import { eventually, type TestInfra } from '@berth/testing';
import { assemble, type Accounts } from './assemble.js';
import { KeyRow, KeyUsageRow } from './key-list/key-row.entity.js';
import { migrations } from './migrations.js';

export const quiet: Logger = createLogger({ service: 'accounts', level: 'silent' });

/** The service's objects on real servers, without the broker; the projection runs. */
export interface RunningAccounts {
  readonly store: EventStore;
  readonly database: Database;
  readonly accounts: Accounts;
  stop(): Promise<void>;
}

export const runAccounts = async (infra: TestInfra): Promise<RunningAccounts> => {
  const database = await openDatabase({
    url: infra.databaseUrl,
    schema: 'accounts',
    entities: [KeyRow, KeyUsageRow],
    migrations,
    applicationName: 'accounts-test',
    log: quiet,
  });
  const store = connectEventStore({ url: infra.eventStoreUrl, log: quiet });
  const accounts = assemble({ store, database, clock: systemClock, log: quiet });
  const ending = new AbortController();
  const projecting = accounts.keyListRunner.run(ending.signal);
  await eventually(() => database.query('SELECT 1 FROM key_list LIMIT 1'));
  const stop = async (): Promise<void> => {
    ending.abort();
    await Promise.all([projecting, accounts.usage.settle()]);
    await store.close();
    await database.close();
  };
  return { store, database, accounts, stop };
};

/** An open account of its own for a test. */
export const openAccount = async ({ accounts }: RunningAccounts): Promise<string> => {
  const accountId = newId('acc');
  await accounts.install.accounts.open(accountId, newId('cmd'));
  return accountId;
};

export const envelope = (accountId: string): CommandEnvelope => ({
  commandId: newId('cmd'),
  accountId,
  actor: { kind: 'key', id: newId('key') },
});

export const hashOf = (key: string): { keyHash: string } => ({
  keyHash: createHash('sha256').update(key).digest('hex'),
});
