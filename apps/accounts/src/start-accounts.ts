import { setTimeout as delay } from 'node:timers/promises';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { isDomainError, systemClock } from '@berth/kernel';
import { EventRelay, NatsLink, startService } from '@berth/messaging';
import { AdvisoryLock, openDatabase, type Database } from '@berth/persistence';
import { BackgroundWork, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { AppModule } from './app.module.js';
import { assemble, type Accounts } from './assemble.js';
import type { AccountsConfig } from './config.js';
import { install } from './installation/install.js';
import { KeyRow, KeyUsageRow } from './key-list/key-row.entity.js';
import { migrations } from './migrations.js';
import { PUBLISHED_CATEGORIES, toContractEvent } from './publish/to-contract-event.js';

const NAME = 'accounts';
const TABLES_WITHIN_MS = 30_000;
const INSTALL_WITHIN_MS = 60_000;

/** Starts the service. Answers once it answers requests and the first account's key is there. */
export const startAccounts = async (config: AccountsConfig, log: Logger): Promise<Stoppable> => {
  const opened = await open(config, log);
  const { database, store, link } = opened;
  const accounts = assemble({ store, database, clock: systemClock, log });
  const relay = new EventRelay({
    store,
    link,
    database,
    context: NAME,
    categories: PUBLISHED_CATEGORIES,
    toContractEvent,
    log,
  });
  const background = new BackgroundWork(log);
  let service: Stoppable | undefined;
  const stop = async (): Promise<void> => {
    await service?.stop();
    await Promise.all([background.stop(), accounts.app.projections.stop(), accounts.usage.settle()]);
    await opened.close();
  };
  try {
    background.start('projection key-list', (signal) => accounts.keyListRunner.run(signal));
    background.start('relay', (signal) => relay.run(signal));
    await untilServing(database);
    service = await startService({ name: NAME, module: AppModule.forRoot(accounts.app), link, log });
    await installOnce(accounts, database, config.bootstrapKeyFile, log);
    return { name: NAME, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

interface Opened {
  readonly link: NatsLink;
  readonly database: Database;
  readonly store: EventStore;
  close(): Promise<void>;
}

const open = async (config: AccountsConfig, log: Logger): Promise<Opened> => {
  const database = await openDatabase({
    url: config.databaseUrl,
    schema: NAME,
    entities: [KeyRow, KeyUsageRow],
    migrations,
    applicationName: `berth-${NAME}`,
    log,
  });
  const store = connectEventStore({ url: config.eventStoreUrl, log });
  const closeStores = async (): Promise<void> => {
    await store.close();
    await database.close();
  };
  try {
    const link = await NatsLink.open({ url: config.natsUrl, name: `berth-${NAME}`, log });
    const close = async (): Promise<void> => {
      await link.close();
      await closeStores();
    };
    return { link, database, store, close };
  } catch (error) {
    await closeStores();
    throw error;
  }
};

/** Authentication reads the list's view, which the projection makes on the very first start. */
const untilServing = async (database: Database): Promise<void> => {
  const giveUpAt = Date.now() + TABLES_WITHIN_MS;
  for (;;) {
    const [row] = await database.query<{ there: boolean }>(
      "SELECT to_regclass('key_list') IS NOT NULL AS there",
    );
    if (row?.there === true) return;
    if (Date.now() > giveUpAt) throw new Error('The tables of the key list were not made.');
    await delay(50);
  }
};

/** The first start, by one process at a time. Waits (bounded) for a log that is briefly away. */
const installOnce = async (
  accounts: Accounts,
  database: Database,
  keyFile: string,
  log: Logger,
): Promise<void> => {
  const signal = AbortSignal.timeout(INSTALL_WITHIN_MS);
  let outcome: Error | 'done' | undefined;
  const attempt = async (): Promise<void> => {
    try {
      await install(accounts.install, keyFile);
      outcome = 'done';
    } catch (error) {
      if (isDomainError(error, 'unavailable')) throw error;
      outcome = error instanceof Error ? error : new Error(String(error));
    }
  };
  await AdvisoryLock.run(database, `${NAME}/install`, attempt, { signal, log });
  if (outcome === undefined) throw new Error('The event log did not answer in time.');
  if (outcome !== 'done') throw outcome;
};
