import { ConfigError, type ServiceEnv } from '@berth/config';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import {
  BrokerCheck,
  brokerOf,
  InstallationClaim,
  InstanceTaken,
  logIdentity,
  NatsLink,
  requireMaxPayload,
  SILENT_MS,
  UnfitBroker,
  unlessRefused,
  type BrokerNeeds,
  type NatsCredentials,
  type NatsLinkOptions,
} from '@berth/messaging';
import {
  DedicatedConnection,
  mapDatabaseError,
  openDatabase,
  type Database,
  type DatabaseOptions,
  type Migration,
} from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { awaitPart } from './await-part.js';

/** What an event-sourced service stands on. */
export interface ServiceParts {
  readonly database: Database;
  readonly store: EventStore;
  readonly link: NatsLink;
  readonly broker: BrokerCheck;
  readonly log: Logger;
}

export interface OpenPartsOptions {
  /** The service's name: also its schema and how it calls itself to the parts. */
  readonly name: string;
  readonly config: ServiceEnv;
  readonly migrations: readonly Migration[];
  readonly entities?: NonNullable<DatabaseOptions['entities']>;
  /** What it needs of JetStream. */
  readonly needs?: BrokerNeeds;
  readonly log: Logger;
  /** Ends the wait for parts that are not there. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens tables, log and broker, and waits for what is not up yet (`awaitPart`). When one fails, the others are closed. */
export const openParts = async (options: OpenPartsOptions): Promise<ServiceParts> => {
  const { name, config, migrations, entities, needs = {}, log } = options;
  const waiting = { log, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  await using opened = new AsyncDisposableStack();
  const database = await openTables({
    url: config.databaseUrl,
    schema: name,
    migrations,
    ...(entities === undefined ? {} : { entities }),
    applicationName: `berth-${name}`,
    ...waiting,
  });
  opened.defer(() => database.close());
  const store = await openLog({ url: config.eventStoreUrl, ...waiting });
  opened.defer(() => store.close());
  const link = await openLink({ ...brokerOf(config), name, ...waiting });
  opened.defer(() => link.close());
  const broker = new BrokerCheck(link, needs, log);
  await requireBroker({ url: config.natsUrl, broker, link, ...waiting });
  await claimInstallation({ config, link, store, ...waiting });
  opened.move();
  broker.watch();
  return { database, store, link, broker, log };
};

/** `openDatabase`, waiting for PostgreSQL. Throws `ConfigError` when it refuses what DATABASE_URL says. */
export const openTables = (options: DatabaseOptions & PartOptions): Promise<Database> =>
  awaitPart({ ...options, ...POSTGRES }, () =>
    openDatabase({ ...options, waitMs: 0 }).catch(refusedByDatabase),
  );

/** `connectEventStore`, waiting for the event log. Throws `ConfigError` when it refuses the credentials. */
export const openLog = (options: PartOptions): Promise<EventStore> => {
  const store = connectEventStore(options);
  return awaitPart({ ...options, ...LOG }, async () => {
    await store.ping();
    return store;
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
};

/** `NatsLink.open`, waiting for the message broker. Throws `ConfigError` when it takes no messages as large as ours. */
export const openLink = async (
  options: PartOptions & Pick<NatsLinkOptions, 'name' | 'credentials' | 'instance' | 'replicas'>,
): Promise<NatsLink> => {
  const link = await awaitPart({ ...options, ...BROKER }, () =>
    NatsLink.open({ ...options, openWithinMs: 0 }).catch((error: unknown) => {
      throw asConfigError(error);
    }),
  );
  try {
    requireMaxPayload(link);
    return link;
  } catch (error) {
    await link.close();
    throw asConfigError(error);
  }
};

/** Waits until the broker has what `broker` needs. Throws `ConfigError` when it refuses. */
const requireBroker = (
  options: PartOptions & { readonly broker: BrokerCheck; readonly link: NatsLink },
): Promise<void> => {
  const since = performance.now();
  return awaitPart({ ...options, ...BROKER }, () =>
    options.broker.require().catch((error: unknown) => {
      throw jetStreamFailure(error, options.link, since);
    }),
  );
};

/** How long a cluster may take to elect its leaders before its refusal counts. */
const ELECTION_MS = 20_000;

const jetStreamFailure = (error: unknown, link: NatsLink, since: number): unknown => {
  if (!(error instanceof UnfitBroker)) return silentJetStream(error);
  const inCluster = link.connection.info?.cluster !== undefined;
  const mayPass = error.passesInCluster && inCluster && performance.now() - since < ELECTION_MS;
  return mayPass ? silentJetStream(error) : asConfigError(error);
};

const asConfigError = (error: unknown): unknown =>
  error instanceof UnfitBroker ? new ConfigError([`NATS_URL ${error.message}`], { cause: error }) : error;

const silentJetStream = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'JetStream does not respond.', {}, { cause });

/**
 * Holds the name of the installation on the broker for the log of `store` until the link closes. Throws `ConfigError` when
 * another installation uses the name.
 */
export const claimInstallation = async (
  options: Omit<PartOptions, 'url'> & {
    readonly config: Pick<ServiceEnv, 'natsUrl' | 'eventStoreUrl'>;
    readonly link: NatsLink;
    readonly store: EventStore;
  },
): Promise<InstallationClaim> => {
  const { config, link, store, log } = options;
  const logId = await awaitPart({ ...options, ...LOG, url: config.eventStoreUrl }, () => logIdentity(store));
  const since = performance.now();
  return awaitPart({ ...options, ...BROKER, url: config.natsUrl }, async () => {
    const taken = unlessRefused(`the stream ${link.names.presenceStream}`, () =>
      InstallationClaim.take({ link, logId, log }),
    );
    return taken.catch((error: unknown) => {
      if (error instanceof InstanceTaken)
        throw new ConfigError([
          `BERTH_INSTANCE must name no other installation: ${error.instance} is used on this broker by one with another event log (a name is free again when that one stops, or ${SILENT_MS / 1_000} s after its last sign of life)`,
        ]);
      throw jetStreamFailure(error, link, since);
    });
  });
};

/** Where parts are; undefined: this one is not needed. */
export interface PartUrls {
  readonly natsUrl?: string | undefined;
  readonly natsCredentials?: NatsCredentials | undefined;
  readonly eventStoreUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
}

/** Resolves once every part that has a URL can be used, so that a process of many services waits, and says so, once. */
export const reachParts = async (
  { natsUrl, natsCredentials: credentials, eventStoreUrl, databaseUrl }: PartUrls,
  options: Omit<PartOptions, 'url'>,
): Promise<void> => {
  await Promise.all([
    natsUrl === undefined
      ? undefined
      : openLink({ ...options, url: natsUrl, credentials, name: 'start' }).then((link) => link.close()),
    eventStoreUrl === undefined
      ? undefined
      : openLog({ ...options, url: eventStoreUrl }).then((store) => store.close()),
    databaseUrl === undefined ? undefined : reachDatabase({ ...options, url: databaseUrl }),
  ]);
};

const reachDatabase = (options: PartOptions): Promise<void> =>
  awaitPart({ ...options, ...POSTGRES }, async () => {
    const target = { url: options.url, schema: 'public', applicationName: 'berth-start' };
    const connection = await DedicatedConnection.open(target).catch((error: unknown) =>
      refusedByDatabase(mapDatabaseError(error)),
    );
    await connection.close();
  });

/** Closes them: the broker first, so that nothing new comes in. */
export const closeParts = async ({ link, store, database }: ServiceParts): Promise<void> => {
  await link.close();
  await Promise.all([store.close(), database.close()]);
};

const BROKER = { what: 'the message broker', variable: 'NATS_URL' } as const;
const LOG = { what: 'the event log', variable: 'EVENTSTORE_URL' } as const;
const POSTGRES = { what: 'PostgreSQL', variable: 'DATABASE_URL' } as const;

interface PartOptions {
  readonly url: string;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

/** SQLSTATE of what only another DATABASE_URL mends. */
const DATABASE_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'is refused: the password or the user is wrong'],
  ['28000', 'is refused: this user may not connect'],
  ['3D000', 'names a database that does not exist'],
  ['42501', 'names a user that may not create schemas in this database'],
]);

const refusedByDatabase = (error: unknown): never => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const refusal = typeof code === 'string' ? DATABASE_REFUSALS.get(code) : undefined;
  if (refusal !== undefined) throw new ConfigError([`DATABASE_URL ${refusal}`], { cause: error });
  throw error;
};
