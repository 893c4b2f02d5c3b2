import { DataSource, type EntitySchema, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { Pool } from 'pg';
import { backoff, pause } from '@berth/supervision';
import { isConnectionLoss, mapDatabaseError } from './connection-errors.js';
import { pooledConnection, type ConnectionTarget } from './connection-options.js';
import { Database, type DatabaseNotices } from './database.js';
import { DedicatedConnection } from './dedicated-connection.js';
import { migrate, type Migration } from './migrations.js';
import { NO_NOTICES } from './notices.js';
import type { DatabaseLog } from './log.js';

const POOL_SIZE = 3;

/** Idle connections are closed after this time. */
const IDLE_MS = 5_000;

/** The server, the schema and its migrations. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** The service's own schema: lower-case letters, digits and `_`. */
  readonly schema: string;
  readonly entities?: readonly EntityTarget<ObjectLiteral>[];
  readonly migrations: readonly Migration[];
  /** Maximum size of the connection pool; default 3. */
  readonly poolSize?: number;
  readonly applicationName: string;
  /** Default: none. Without them, processes that wait for a lock ask for it more often. */
  readonly notices?: DatabaseNotices;
  readonly log: DatabaseLog;
  /** How long to wait for a server that is not up yet, in milliseconds; default 60,000. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Opens a service's database: waits (bounded) until the server is up, creates the schema, runs the migrations under an
 * advisory lock. Throws `DomainError('unavailable', 'service_unavailable')` when the wait times out, and rethrows the
 * error of a failed migration.
 */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(options.schema))
    throw new Error(`Not a schema name: ${options.schema}`);
  const giveUpAt = Date.now() + (options.waitMs ?? 60_000);
  for (let attempt = 0; ; attempt++) {
    try {
      return await openOnce(options);
    } catch (error) {
      const over = Date.now() >= giveUpAt || options.signal?.aborted === true;
      if (over || !isConnectionLoss(error)) throw mapDatabaseError(error);
      if (attempt === 0)
        options.log.warn({ err: error, schema: options.schema }, 'database is not up, waiting');
      await pause(Math.min(backoff(attempt, 100, 2_000), giveUpAt - Date.now()), options.signal);
    }
  }
};

const openOnce = async (options: DatabaseOptions): Promise<Database> => {
  const target: ConnectionTarget = options;
  const connection = await DedicatedConnection.open(target);
  try {
    await migrate(connection, options.schema, options.migrations, options.log);
  } finally {
    await connection.close();
  }
  const dataSource = await connectDataSource(options);
  const notices = options.notices ?? { service: NO_NOTICES, server: NO_NOTICES };
  return new Database(dataSource, poolOf(dataSource), target, notices, options.log);
};

const connectDataSource = async (options: DatabaseOptions): Promise<DataSource> => {
  const opened: { pool?: Pool } = {};
  const dataSource = new DataSource({
    type: 'postgres',
    url: options.url,
    schema: options.schema,
    entities: [...(options.entities ?? [])] as (EntitySchema | (new () => ObjectLiteral))[],
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolSize: options.poolSize ?? POOL_SIZE,
    applicationName: options.applicationName,
    // Without a handler, the loss of an idle connection would end the process.
    poolErrorHandler: (error: unknown) => {
      // A server that shuts down together with this process may close the connection before we do.
      if (opened.pool?.ending !== true) options.log.warn({ err: error }, 'a database connection was lost');
    },
    extra: { ...pooledConnection(options), idleTimeoutMillis: IDLE_MS },
  });
  await dataSource.initialize();
  opened.pool = poolOf(dataSource);
  return dataSource;
};

const poolOf = (dataSource: DataSource): Pool => {
  const { driver } = dataSource;
  if (!('master' in driver)) throw new Error('The driver has no pool.');
  return driver.master as Pool;
};
