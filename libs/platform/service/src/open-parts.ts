import type { ServiceEnv } from '@berth/config';
import type { EventStore } from '@berth/event-store';
import {
  BrokerCheck,
  brokerOf,
  type BrokerNeeds,
  type NatsLink,
  type ProcessHandlers,
} from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import {
  claimInstallation,
  openLink,
  openLog,
  openTables,
  requireBroker,
  type TablesOptions,
} from './open-part.js';
import type { ServiceTables } from './service-definition.js';

/** The backing services of an event-sourced service. */
export interface ServiceParts {
  readonly database: Database;
  readonly store: EventStore;
  readonly link: NatsLink;
  readonly broker: BrokerCheck;
  readonly log: Logger;
}

export interface OpenPartsOptions extends TablesOptions {
  readonly config: ServiceEnv;
  /** The service's requirements on JetStream. */
  readonly needs?: BrokerNeeds;
  readonly handlers?: ProcessHandlers | undefined;
}

/**
 * Opens the database, the event log and the broker, waiting for each (`awaitPart`). When one fails, the others are
 * closed.
 */
export const openParts = async (options: OpenPartsOptions): Promise<ServiceParts> => {
  const { name, config, needs = {}, handlers, log } = options;
  const waiting = { log, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  await using opened = new AsyncDisposableStack();
  const link = await openLink({ ...brokerOf(config), name, handlers, ...waiting });
  opened.defer(() => link.close());
  const database = await openTables(options, link);
  opened.defer(() => database.close());
  const store = await openLog({ url: config.eventStoreUrl, ...waiting });
  opened.defer(() => store.close());
  const broker = new BrokerCheck(link, needs, log);
  await requireBroker({ url: config.natsUrl, broker, link, ...waiting });
  await claimInstallation({ config, link, store, ...waiting });
  opened.move();
  broker.watch();
  return { database, store, link, broker, log };
};

/** Opens the event log and the broker for a service without tables, as `openParts` does. */
export const openPartsWithoutTables = async (
  options: Omit<OpenPartsOptions, 'config' | 'migrations' | 'entities' | 'needs'> & {
    readonly config: Omit<ServiceEnv, 'databaseUrl' | 'databasePool'>;
  },
): Promise<Pick<ServiceParts, 'store' | 'link'>> => {
  const { name, config, handlers, log } = options;
  const waiting = { log, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  await using opened = new AsyncDisposableStack();
  const store = await openLog({ url: config.eventStoreUrl, ...waiting });
  opened.defer(() => store.close());
  const link = await openLink({ ...brokerOf(config), name, handlers, ...waiting });
  opened.defer(() => link.close());
  await claimInstallation({ config, link, store, ...waiting });
  opened.move();
  return { store, link };
};

/** Opens the broker, and the database of a service that has tables but no event log, as `openParts` does. */
export const openPartsWithoutLog = async ({
  client,
  tables,
  ...options
}: Omit<OpenPartsOptions, keyof ServiceTables | 'needs'> & {
  readonly client: string;
  readonly tables: ServiceTables | undefined;
}): Promise<Pick<ServiceParts, 'link'> & Partial<Pick<ServiceParts, 'database'>>> => {
  const { config, handlers, log } = options;
  const waiting = { log, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  await using opened = new AsyncDisposableStack();
  const link = await openLink({ ...brokerOf(config), name: client, handlers, ...waiting });
  opened.defer(() => link.close());
  const database = tables === undefined ? undefined : await openTables({ ...options, ...tables }, link);
  opened.move();
  return database === undefined ? { link } : { link, database };
};

/** Closes the backing services, the broker first, so that no new messages arrive. */
export const closeParts = async ({
  link,
  store,
  database,
}: Pick<ServiceParts, 'link'> & Partial<ServiceParts>): Promise<void> => {
  await link.close();
  await Promise.all([store?.close(), database?.close()]);
};
