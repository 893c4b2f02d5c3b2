import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { detach, isDomainError } from '@berth/kernel';
import type { Pool, PoolClient } from 'pg';
import { DedicatedConnection } from './dedicated-connection.js';
import { CALL_BUDGET_MS, LEAST_STATEMENT_MS, type ConnectionTarget } from './connection-options.js';
import { isConnectionLoss, mapDatabaseError } from './connection-errors.js';
import { CrowdedServer } from './crowded-server.js';
import { lockKey } from './lock-key.js';
import { LockQueue, type HeldLock, type LockOptions } from './lock-queue.js';
import type { DatabaseLog } from './log.js';
import type { Notices } from './notices.js';
import { PreparedStatements } from './prepared-statements.js';
import { SharedSession } from './shared-session.js';
import { runStatement, type SqlRunner } from './sql-runner.js';

/** Notices that let the processes which share a database use fewer connections. */
export interface DatabaseNotices {
  /** Among the processes of this service. */
  readonly service: Notices;
  /** Among all processes that use the server. */
  readonly server: Notices;
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** The time-out of each of its statements, in milliseconds; default 4,000. */
  readonly statementTimeoutMs?: number;
  /**
   * Prepares its statements, so that a connection plans each text once. For few texts over few rows: a plan is kept while a
   * table grows. The transaction fails, and may be repeated, when a view was redefined with other columns.
   */
  readonly prepared?: boolean;
}

/**
 * One service's PostgreSQL schema: a TypeORM `DataSource` and its pool, with `search_path` set to the schema. While the
 * server is down or frozen, or has no free connection, every call fails within 4 s with `DomainError('unavailable',
 * 'service_unavailable')`; the pool recovers as soon as the server does.
 */
export class Database implements SqlRunner {
  readonly dataSource: DataSource;
  readonly #prepared = new PreparedStatements();
  readonly #pool: Pool;
  readonly #target: ConnectionTarget;
  readonly #locks: LockQueue;
  readonly #server: CrowdedServer;

  /** Use `openDatabase`. */
  constructor(
    dataSource: DataSource,
    pool: Pool,
    target: ConnectionTarget,
    notices: DatabaseNotices,
    log: DatabaseLog,
  ) {
    this.dataSource = dataSource;
    this.#pool = pool;
    this.#target = target;
    const session = new SharedSession(() => this.connect({ heartbeat: true }));
    this.#locks = new LockQueue(session, lockKey(`leader:${target.schema}`), notices.service);
    this.#server = new CrowdedServer(pool, notices.server, log);
  }

  get schema(): string {
    return this.#target.schema;
  }

  async query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]> {
    const deadline = Date.now() + CALL_BUDGET_MS;
    const left = (): number => Math.max(LEAST_STATEMENT_MS, deadline - Date.now());
    const name = this.#prepared.nameOf(sql, params ?? []);
    return this.#withClient(async (client) => {
      try {
        return await runStatement<Row>(client, sql, params, left(), name);
      } catch (error) {
        // The server refused the statement before it ran, so a retry runs it once.
        if (name === undefined || !this.#prepared.outdatedBy(error)) throw error;
        return await runStatement<Row>(client, sql, params, left());
      }
    });
  }

  /** Runs `work` in one transaction: commits when it resolves; rolls back and rethrows when it throws. */
  async transaction<T>(work: (tx: SqlRunner) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const timeoutMs = options.statementTimeoutMs ?? CALL_BUDGET_MS;
    const deadline = Date.now() + CALL_BUDGET_MS;
    return this.#withClient(async (client) => {
      await runStatement(client, 'BEGIN', [], Math.max(LEAST_STATEMENT_MS, deadline - Date.now()));
      try {
        if (timeoutMs > CALL_BUDGET_MS)
          await runStatement(client, `SET LOCAL statement_timeout = ${timeoutMs}`);
        const nameOf: PreparedStatements['nameOf'] = (sql, params) =>
          options.prepared === true ? this.#prepared.nameOf(sql, params) : undefined;
        const result = await work({
          query: (sql, params = []) => runStatement(client, sql, params, timeoutMs, nameOf(sql, params)),
        });
        await runStatement(client, 'COMMIT', [], timeoutMs);
        return result;
      } catch (error) {
        this.#prepared.outdatedBy(error);
        if (!isConnectionLoss(error)) await this.#rollBack(client);
        throw error;
      }
    });
  }

  /** Runs TypeORM work in a separate transaction, with the same error mapping. */
  async entities<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { runner, client } = await this.#connectRunner();
    try {
      await runner.startTransaction();
      const result = await work(runner.manager);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      if (!isConnectionLoss(error)) await rollBack(runner).catch(() => undefined);
      // TypeORM would return a dead connection to the pool.
      else void client.end().catch(() => undefined);
      throw mapDatabaseError(error);
    } finally {
      await runner.release();
      this.#server.released();
    }
  }

  /** Resolves once the server has responded. */
  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  /**
   * Waits for the session-level advisory lock `key` (see `lockKey`). Resolves to undefined when `signal` aborts first;
   * rejects when the connection fails. Prefer `AdvisoryLock.hold`.
   */
  acquireLock(key: string, signal: AbortSignal, options: LockOptions = {}): Promise<HeldLock | undefined> {
    return this.#locks.acquire(key, signal, options);
  }

  /** Opens a session outside the pool; the caller closes it. */
  async connect(options: { heartbeat?: boolean } = {}): Promise<DedicatedConnection> {
    try {
      return await this.#server.outsidePool(() => DedicatedConnection.open(this.#target, options));
    } catch (error) {
      throw mapDatabaseError(error);
    }
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** Creates a new runner for each attempt, because a runner that failed to connect never connects. */
  async #connectRunner(): Promise<{ readonly runner: QueryRunner; readonly client: PoolClient }> {
    try {
      return await this.#server.fromPool(
        async () => {
          const runner = this.dataSource.createQueryRunner();
          return { runner, client: (await runner.connect()) as PoolClient };
        },
        ({ runner }) => detach(runner.release().finally(() => this.#server.released())),
      );
    } catch (error) {
      throw mapDatabaseError(error);
    }
  }

  /** A connection that cannot roll back is removed from the pool; the server then rolls back. */
  async #rollBack(client: PoolClient): Promise<void> {
    try {
      await runStatement(client, 'ROLLBACK', [], LEAST_STATEMENT_MS);
    } catch (error) {
      client.emit('error', error);
    }
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    let lost: Error | undefined;
    const onError = (error: Error): void => {
      lost = error;
    };
    try {
      client = await this.#server.fromPool(
        () => this.#pool.connect(),
        (late) => {
          late.release();
          this.#server.released();
        },
      );
      // A connection lost between two statements emits an error event, and nothing else listens to it.
      client.on('error', onError);
      return await work(client);
    } catch (error) {
      if (isConnectionLoss(error)) lost ??= error instanceof Error ? error : new Error('connection lost');
      throw isDomainError(error) ? error : mapDatabaseError(lost ?? error);
    } finally {
      client?.off('error', onError);
      client?.release(lost);
      this.#server.released();
    }
  }
}

const rollBack = async (runner: QueryRunner): Promise<void> => {
  if (runner.isTransactionActive) await runner.rollbackTransaction();
};
