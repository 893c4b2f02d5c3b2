import type { BrokerEnv, Env, ServiceEnv } from '@berth/config';
import type { BrokerNeeds } from '@berth/messaging';
import type { DatabaseOptions, Migration } from '@berth/persistence';
import type { Type } from '@nestjs/common';

/** What the platform reads from a service's configuration. A service without tables needs no database, and so on. */
export type ServiceSettings = BrokerEnv &
  Pick<ServiceEnv, 'logLevel' | 'otlpEndpoint' | 'metricsPort'> &
  Partial<Pick<ServiceEnv, 'eventStoreUrl' | 'databaseUrl' | 'databasePool'>>;

/** The tables of a service. */
export interface ServiceTables {
  /** Default: the service's name, with `_` for `-`. */
  readonly schema?: string;
  readonly migrations: readonly Migration[];
  readonly entities?: NonNullable<DatabaseOptions['entities']>;
}

/** A service as the platform starts it. */
export interface ServiceDefinition<Config extends ServiceSettings = ServiceSettings> {
  /** Also its schema, its queue group and its user on the broker. */
  readonly name: string;
  /** The class by which providers inject the configuration. */
  readonly config: abstract new () => Config;
  /** Throws `ConfigError` when the environment is invalid. */
  readonly readConfig: (env: Env) => Config;
  /** false: a service without an event log, which has neither projections nor the operations interface. */
  readonly eventLog?: false;
  /** Absent: a service without tables, which has neither projections nor streams on the broker. */
  readonly tables?: ServiceTables;
  /**
   * For a service without an event log that runs once on each host: returns the id of this host. The service handles the
   * requests to that host, its client on the broker is named `<name>-<host>`, and its providers inject `HostIdentity`.
   */
  readonly host?: (config: Config) => Promise<string>;
  /** The service's requirements on JetStream. */
  readonly streams?: BrokerNeeds;
}

/** A definition; without `config` and `readConfig` the service reads the variables that every service reads. */
export type ServiceOptions<Config extends ServiceSettings = ServiceEnv> = Omit<
  ServiceDefinition<Config>,
  'config' | 'readConfig'
> &
  Partial<Pick<ServiceDefinition<Config>, 'config' | 'readConfig'>>;

/** A Nest module that imports `PlatformModule.forService(…)`. */
export type ServiceModule = Type;
