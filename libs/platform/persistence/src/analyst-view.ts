import type { SqlRunner } from './sql-runner.js';

/** The role that may read the views, and nothing else. */
const ANALYST = 'berth_analyst';
const SCHEMA = 'analytics';

/** A view for analysts in the schema `analytics`. */
export interface AnalystView {
  readonly name: string;
  /** The meaning of one row. */
  readonly comment: string;
  /** The query, on tables and views of the service. */
  readonly query: string;
  /** The meaning and the unit of each column of the query. */
  readonly columns: Readonly<Record<string, string>>;
}

/**
 * Creates or replaces the view, with its comments, for the role `berth_analyst`. Creates the role if the service may; otherwise the
 * operator creates it, before or after. Runs in the transaction that publishes the tables of the view.
 */
export const publishAnalystView = async (tx: SqlRunner, view: AnalystView): Promise<void> => {
  const name = `${SCHEMA}.${view.name}`;
  // Services that start at the same time would collide.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('berth/analytics', 0))`);
  await tx.query(CREATE_SCHEMA);
  await tx.query(CREATE_ROLE);
  await tx.query(`DROP VIEW IF EXISTS ${name}`);
  await tx.query(`CREATE VIEW ${name} AS ${view.query}`);
  await tx.query(`COMMENT ON VIEW ${name} IS ${quoted(view.comment)}`);
  for (const [column, meaning] of Object.entries(view.columns))
    await tx.query(`COMMENT ON COLUMN ${name}."${column}" IS ${quoted(meaning)}`);
  await tx.query(grantOn(name));
};

/** A session may still not see the schema that another one has created while this one waited for the lock. */
const CREATE_SCHEMA = `
  DO $$ BEGIN
    CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
  EXCEPTION WHEN unique_violation THEN NULL;
  END $$`;

/** Not allowed to log in until the operator gives it a password. Roles belong to the server, not to the database. */
const CREATE_ROLE = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${ANALYST}') THEN
      CREATE ROLE ${ANALYST} NOLOGIN;
      ALTER ROLE ${ANALYST} SET default_transaction_read_only = on;
    END IF;
  EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN NULL;
  END $$`;

const grantOn = (name: string): string => `
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${ANALYST}') THEN
      GRANT USAGE ON SCHEMA ${SCHEMA} TO ${ANALYST};
      GRANT SELECT ON ${name} TO ${ANALYST};
    END IF;
  END $$`;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
