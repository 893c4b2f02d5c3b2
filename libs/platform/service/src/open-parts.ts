import type { ServiceEnv } from '@berth/config';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { NatsLink } from '@berth/messaging';
import { openDatabase, type Database, type DatabaseOptions, type Migration } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';

/** What an event-sourced service stands on. */
export interface ServiceParts {
  readonly database: Database;
  readonly store: EventStore;
  readonly link: NatsLink;
  readonly log: Logger;
}

export interface OpenPartsOptions {
  /** The service's name: also its schema and how it calls itself to the parts. */
  readonly name: string;
  readonly config: ServiceEnv;
  readonly migrations: readonly Migration[];
  readonly entities?: NonNullable<DatabaseOptions['entities']>;
  readonly log: Logger;
}

/** Opens tables, log and broker; waits (bounded) for what is not up yet. When one fails, the others are closed. */
export const openParts = async (options: OpenPartsOptions): Promise<ServiceParts> => {
  const { name, config, migrations, entities, log } = options;
  const database = await openDatabase({
    url: config.databaseUrl,
    schema: name,
    migrations,
    ...(entities === undefined ? {} : { entities }),
    applicationName: `berth-${name}`,
    log,
  });
  const store = connectEventStore({ url: config.eventStoreUrl, log });
  try {
    const link = await NatsLink.open({ url: config.natsUrl, name: `berth-${name}`, log });
    return { database, store, link, log };
  } catch (error) {
    await Promise.all([store.close(), database.close()]);
    throw error;
  }
};

/** Closes them: the broker first, so that nothing new comes in. */
export const closeParts = async ({ link, store, database }: ServiceParts): Promise<void> => {
  await link.close();
  await Promise.all([store.close(), database.close()]);
};
