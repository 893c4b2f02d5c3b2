import { ConfigError, type ServiceEnv } from '@berth/config';
import { connectEventStore, type EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import {
  InstallationClaim,
  InstanceTaken,
  logIdentity,
  NatsLink,
  NatsNotices,
  requireMaxPayload,
  SILENT_MS,
  UnfitBroker,
  unlessRefused,
  type BrokerCheck,
  type NatsCredentials,
  type NatsLinkOptions,
} from '@berth/messaging';
import { DedicatedConnection, mapDatabaseError, openDatabase, type Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { awaitPart } from './await-part.js';
import { endProcess } from './end-process.js';
import type { ServiceTables } from './service-definition.js';

export interface TablesOptions extends ServiceTables {
  /** The service's name; also its client name. */
  readonly name: string;
  readonly config: Pick<ServiceEnv, 'databaseUrl' | 'databasePool'>;
  readonly log: Logger;
  /** Aborts the wait for backing services that are not available. */
  readonly signal?: AbortSignal | undefined;
}

/** `openDatabase`, waiting for PostgreSQL. Throws `ConfigError` when the server rejects DATABASE_URL. */
export const openTables = (options: TablesOptions, link: NatsLink): Promise<Database> => {
  const { name, schema = name.replaceAll('-', '_'), config, migrations, entities, log, signal } = options;
  const { databaseUrl: url, databasePool: poolSize } = config;
  const part = { url, log, ...(signal === undefined ? {} : { signal }) };
  return awaitPart({ ...part, ...POSTGRES }, () =>
    openDatabase({
      ...part,
      poolSize,
      schema,
      migrations,
      ...(entities === undefined ? {} : { entities }),
      applicationName: `berth-${name}`,
      notices: NatsNotices.of(link, name),
      waitMs: 0,
    }).catch(refusedByDatabase),
  );
};

/** `connectEventStore`, waiting for the event log. Throws `ConfigError` when the log rejects the credentials. */
export const openLog = (options: PartOptions): Promise<EventStore> => {
  const store = connectEventStore(options);
  return awaitPart({ ...options, ...LOG }, async () => {
    // Not `ping`: it times out before the retries of a call end, and so would hide their error.
    await store.head();
    return store;
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
};

/**
 * `NatsLink.open`, waiting for the message broker. Throws `ConfigError` when the broker's maximum payload is smaller
 * than our messages.
 */
export const openLink = async (
  options: PartOptions & Pick<NatsLinkOptions, 'name' | 'credentials' | 'instance' | 'replicas' | 'handlers'>,
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

/** Waits until the broker meets the requirements of `broker`. Throws `ConfigError` when it never can. */
export const requireBroker = (
  options: PartOptions & { readonly broker: BrokerCheck; readonly link: NatsLink },
): Promise<void> => {
  const since = performance.now();
  return awaitPart({ ...options, ...BROKER }, () =>
    options.broker.require().catch(async (error: unknown) => {
      // The check logs the reason and repeats itself until the broker is fit.
      if (error instanceof UnfitBroker && error.servesMeanwhile) await options.broker.isFit();
      else throw jetStreamFailure(error, options.link, since);
    }),
  );
};

/** How long a cluster may take to elect its leaders before its rejection counts as final. */
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
 * Claims the installation's name on the broker for the event log of `store` until the link closes. Throws `ConfigError`
 * when another installation uses the name, and ends the process when another one takes it later.
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
      InstallationClaim.take({ link, logId, log, onLost: endProcess }),
    );
    return taken.catch((error: unknown) => {
      if (error instanceof InstanceTaken)
        throw new ConfigError([
          `BERTH_INSTANCE must name no other installation: ${error.instance} is used on this broker by one with another event log (a name is free again when that one stops, or ${SILENT_MS / 1_000} s after its last heartbeat)`,
        ]);
      throw jetStreamFailure(error, link, since);
    });
  });
};

/** The URLs of the backing services; undefined for one that is not needed. */
export interface PartUrls {
  readonly natsUrl?: string | undefined;
  readonly natsCredentials?: NatsCredentials | undefined;
  readonly eventStoreUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
}

/**
 * Resolves once every backing service with a URL is usable. A process with many services calls it first, so that it waits
 * and logs the wait only once.
 */
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

const BROKER = { what: 'the message broker', variable: 'NATS_URL' } as const;
const LOG = { what: 'the event log', variable: 'EVENTSTORE_URL' } as const;
const POSTGRES = { what: 'PostgreSQL', variable: 'DATABASE_URL' } as const;

interface PartOptions {
  readonly url: string;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

/** SQLSTATEs of errors that only a different DATABASE_URL can fix. */
const DATABASE_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'is refused: wrong user or password'],
  ['28000', 'is refused: this user is not allowed to connect'],
  ['3D000', 'names a database that does not exist'],
  ['42501', 'names a user that is not allowed to create schemas in this database'],
]);

const refusedByDatabase = (error: unknown): never => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const refusal = typeof code === 'string' ? DATABASE_REFUSALS.get(code) : undefined;
  if (refusal !== undefined) throw new ConfigError([`DATABASE_URL ${refusal}`], { cause: error });
  throw error;
};
