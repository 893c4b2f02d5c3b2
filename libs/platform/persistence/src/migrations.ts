import type { DedicatedConnection } from './dedicated-connection.js';
import { quoteIdentifier, type SqlRunner } from './sql-runner.js';
import { lockKey } from './lock-key.js';
import type { DatabaseLog } from './log.js';

/** One step of a schema's history. Steps run once, in list order, each in its own transaction. */
export interface Migration {
  /** `<date>-<what>`, e.g. `2026-11-21-create-agent-env`; must not change once it has run anywhere. */
  readonly name: string;
  up(tx: SqlRunner): Promise<void>;
}

/** Creates the schema and runs the pending migrations, one process at a time (a session advisory lock). */
export const migrate = async (
  connection: DedicatedConnection,
  schema: string,
  migrations: readonly Migration[],
  log: DatabaseLog,
): Promise<void> => {
  rejectDuplicates(migrations);
  const key = lockKey(`migrations:${schema}`);
  await connection.query('SELECT pg_advisory_lock($1)', [key]);
  try {
    const table = `${quoteIdentifier(schema)}.migrations`;
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`);
    await connection.query(
      `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, ran_at timestamptz NOT NULL DEFAULT now())`,
    );
    const rows = await connection.query<{ name: string }>(`SELECT name FROM ${table}`);
    const done = new Set(rows.map((row) => row.name));
    for (const migration of migrations.filter(({ name }) => !done.has(name))) {
      await runOne(connection, table, migration);
      log.info({ migration: migration.name, schema }, 'migration ran');
    }
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [key]).catch(() => undefined);
  }
};

const runOne = async (
  connection: DedicatedConnection,
  table: string,
  migration: Migration,
): Promise<void> => {
  await connection.query('BEGIN');
  try {
    await migration.up({ query: (sql, params) => connection.query(sql, params) });
    await connection.query(`INSERT INTO ${table} (name) VALUES ($1)`, [migration.name]);
    await connection.query('COMMIT');
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
};

const rejectDuplicates = (migrations: readonly Migration[]): void => {
  const names = migrations.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two migrations are named ${twice}.`);
};
