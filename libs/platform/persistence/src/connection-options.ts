import type { ClientConfig } from 'pg';

/** The time-out of one call of a `Database`: waiting for a connection and running the statement. */
export const CALL_BUDGET_MS = 4_000;

/** The minimum time for a statement after a long wait for a connection. */
export const LEAST_STATEMENT_MS = 500;

const CONNECT_TIMEOUT_MS = 3_000;

/** The server, the schema and the client name of a connection. */
export interface ConnectionTarget {
  readonly url: string;
  readonly schema: string;
  readonly applicationName: string;
}

const startupOptions = (settings: Record<string, string | number>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll('\\', '\\\\').replaceAll(' ', '\\ ')}`)
    .join(' ');

/** The server detects a dead peer, and releases its locks, after about 11 s. */
const KEEPALIVES = { tcp_keepalives_idle: 5, tcp_keepalives_interval: 2, tcp_keepalives_count: 3 };

/** Options of pooled connections: the server limits every statement too. */
export const pooledConnection = (target: ConnectionTarget): ClientConfig => ({
  connectionString: target.url,
  application_name: target.applicationName,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: CALL_BUDGET_MS,
  keepAlive: true,
  options: startupOptions({
    search_path: target.schema,
    statement_timeout: CALL_BUDGET_MS,
    // A process frozen inside a transaction must not hold its row locks forever.
    idle_in_transaction_session_timeout: 15_000,
    ...KEEPALIVES,
  }),
});

/** Options of a dedicated connection, for locks and migrations: statements may take long. */
export const dedicatedConnection = (target: ConnectionTarget): ClientConfig => ({
  connectionString: target.url,
  application_name: target.applicationName,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  options: startupOptions({ search_path: target.schema, ...KEEPALIVES }),
});
