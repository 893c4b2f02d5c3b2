import { Client } from 'pg';
import { detach } from '@berth/kernel';
import { dedicatedConnection, type ConnectionTarget } from './connection-options.js';
import { runStatement, type SqlRunner } from './sql-runner.js';

const HEARTBEAT_MS = 2_000;
const HEARTBEAT_REPLY_MS = 2_000;

/**
 * A connection outside the pool, for state that belongs to a session: advisory locks, migrations. `closed`
 * aborts as soon as the connection is lost, even when the server merely stops responding (detected by an optional
 * heartbeat).
 */
export class DedicatedConnection implements SqlRunner {
  readonly #client: Client;
  readonly #closed = new AbortController();
  #heartbeat: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(client: Client) {
    this.#client = client;
    client.on('error', () => this.#lost());
    client.on('end', () => this.#lost());
  }

  static async open(
    target: ConnectionTarget,
    options: { heartbeat?: boolean } = {},
  ): Promise<DedicatedConnection> {
    const client = new Client(dedicatedConnection(target));
    const connection = new DedicatedConnection(client);
    await client.connect();
    if (options.heartbeat === true) connection.#beat();
    return connection;
  }

  /** Aborts once the connection is lost or closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Runs one statement at a time; `timeoutMs` excludes the wait for the earlier ones. */
  query<Row>(sql: string, params?: readonly unknown[], timeoutMs?: number): Promise<Row[]> {
    const result = this.#last.then(() => runStatement<Row>(this.#client, sql, params, timeoutMs));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Ends the session and releases everything it holds. Never throws. */
  async close(): Promise<void> {
    this.#lost();
    await Promise.race([
      this.#client.end().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, HEARTBEAT_REPLY_MS).unref()),
    ]);
  }

  #beat(): void {
    this.#heartbeat = setTimeout(() => {
      this.query('SELECT 1', [], HEARTBEAT_REPLY_MS).then(
        () => {
          if (!this.closed.aborted) this.#beat();
        },
        () => detach(this.close()),
      );
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  #lost(): void {
    clearTimeout(this.#heartbeat);
    this.#closed.abort();
  }
}
