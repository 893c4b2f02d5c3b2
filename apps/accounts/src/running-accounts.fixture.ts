import { createHash } from 'node:crypto';
import { connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { newId, systemClock, type CommandEnvelope } from '@berth/kernel';
import { logIdentity } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger, type Logger } from '@berth/telemetry';
import { eventually, type TestInfra } from '@berth/testing';
import { AccountCommandHandler } from './account/account.command-handler.js';
import { AccountStreams } from './account/account.streams.js';
import { AuthenticateQuery } from './authenticate/authenticate.query.js';
import { KeyUsage } from './authenticate/key-usage.js';
import { InstallationStreams } from './installation/installation.streams.js';
import { KeyCommandHandler } from './key/key.command-handler.js';
import { KeyStreams } from './key/key.streams.js';
import { KeyVault } from './key/key-vault.js';
import { EventLogIdentity } from './key/event-log-identity.js';
import { accountListProjection } from './account-list/account-list.projection.js';
import { keyListProjection } from './key-list/key-list.projection.js';
import { KeyListQuery } from './key-list/key-list.query.js';
import { KeyRow, KeyUsageRow } from './key-list/key-row.entity.js';
import { migrations } from './migrations.js';

export const quiet: Logger = createLogger({ service: 'accounts', level: 'silent' });

/** The service's objects on real servers, without the broker; the projection runs. */
export interface RunningAccounts {
  readonly store: EventStore;
  readonly database: Database;
  readonly accounts: AccountCommandHandler;
  readonly keyStreams: KeyStreams;
  readonly usage: KeyUsage;
  readonly keys: KeyCommandHandler;
  readonly keyList: KeyListQuery;
  readonly keyListRunner: ProjectionRunner;
  readonly authenticate: AuthenticateQuery;
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
  const clock = systemClock;
  const accounts = new AccountCommandHandler(
    new AccountStreams(store),
    new InstallationStreams(store),
    clock,
  );
  const keyStreams = new KeyStreams(store);
  const usage = new KeyUsage(database, clock, quiet);
  const projection = keyListProjection;
  const keyListRunner = new ProjectionRunner({ store, database, projection, log: quiet });
  const eventLog = new EventLogIdentity(await logIdentity(store));
  const vault = new KeyVault(database, eventLog);
  const keys = new KeyCommandHandler(keyStreams, accounts, vault, usage, keyListRunner, clock);
  const supervisor = new Supervisor('accounts', quiet);
  supervisor.start('key list', (signal) => keyListRunner.run(signal));
  const accountListRunner = new ProjectionRunner({
    store,
    database,
    projection: accountListProjection,
    log: quiet,
  });
  supervisor.start('account list', (signal) => accountListRunner.run(signal));
  await eventually(() => database.query('SELECT 1 FROM key_list, account_list LIMIT 1'));
  const stop = async (): Promise<void> => {
    await Promise.all([supervisor.stop(), usage.settle()]);
    await store.close();
    await database.close();
  };
  const authenticate = new AuthenticateQuery(database, usage, eventLog);
  const keyList = new KeyListQuery(database);
  return { store, database, accounts, keyStreams, usage, keys, keyList, keyListRunner, authenticate, stop };
};

/** Opens a separate account for a test. */
export const openAccount = async ({ accounts }: RunningAccounts): Promise<string> => {
  const accountId = newId('acc');
  await accounts.open(accountId, newId('cmd'));
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
