import type { Database, SqlRunner } from '@berth/persistence';

const LOCK_KEY = '7402114203';

/** Checks first: ALTER TABLE blocks readers even when there is nothing to alter. */
const addColumn = (table: string, column: string): string => `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM information_schema.columns WHERE table_schema = current_schema()
                   AND table_name = '${table}' AND column_name = '${column}')
    THEN ALTER TABLE ${table} ADD COLUMN ${column} text; END IF;
  END $$`;

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS event_relay (
     context text PRIMARY KEY,
     published_position numeric(20),
     scanned_position numeric(20),
     updated_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE IF NOT EXISTS event_consumer (
     durable text PRIMARY KEY,
     floor_position numeric(20) NOT NULL,
     updated_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE IF NOT EXISTS event_inbox (
     durable text NOT NULL,
     event_id text NOT NULL,
     position numeric(20) NOT NULL,
     outcome text NOT NULL CHECK (outcome IN ('done', 'dead')),
     handled_at timestamptz NOT NULL DEFAULT now(),
     PRIMARY KEY (durable, event_id))`,
  `CREATE INDEX IF NOT EXISTS event_inbox_by_position ON event_inbox (durable, position)`,
  addColumn('event_relay', 'published_event'),
  addColumn('event_relay', 'scanned_event'),
  addColumn('event_consumer', 'floor_event'),
];

/** Creates the tables of relay and consumers in a service's schema if they are missing. */
export const ensureMessagingTables = (database: Database): Promise<void> =>
  database.transaction(async (tx: SqlRunner) => {
    // Two processes that create the same table concurrently would cause a unique violation.
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
    for (const statement of STATEMENTS) await tx.query(statement);
  });
