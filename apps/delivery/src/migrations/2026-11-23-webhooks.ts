import type { Migration } from '@berth/persistence';

/** The vault of webhooks, and the counts of their callers. */
export const createWebhooks: Migration = {
  name: '2026-11-23-webhooks',
  async up(tx) {
    await tx.query('CREATE SCHEMA IF NOT EXISTS delivery_vault');
    await tx.query(`
      CREATE TABLE delivery_vault.webhook_bodies (
        seq bigint GENERATED ALWAYS AS IDENTITY,
        delivery_id text COLLATE "C" PRIMARY KEY,
        account_id text NOT NULL,
        agent_id text COLLATE "C" NOT NULL,
        bytes integer NOT NULL,
        sealed text,
        sealed_error text,
        stored_at timestamptz NOT NULL DEFAULT now(),
        ended_at timestamptz
      )`);
    await tx.query(
      'CREATE INDEX ON delivery_vault.webhook_bodies (agent_id, seq) INCLUDE (bytes, account_id) WHERE ended_at IS NULL',
    );
    await tx.query('CREATE INDEX ON delivery_vault.webhook_bodies (agent_id)');
    await tx.query('CREATE INDEX ON delivery_vault.webhook_bodies (ended_at)');
    await tx.query(`
      CREATE TABLE delivery_vault.webhook_tokens (
        agent_id text COLLATE "C" PRIMARY KEY,
        token_id text NOT NULL,
        revision bigint NOT NULL,
        sealed text NOT NULL,
        created_at timestamptz(3) NOT NULL
      )`);
    // Not written to the WAL, so that counting costs no flush; after a crash the counts begin again.
    await tx.query(`
      CREATE UNLOGGED TABLE webhook_call (
        id text PRIMARY KEY, agent_id text NOT NULL, caller text NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    await tx.query('CREATE INDEX ON webhook_call (agent_id, caller, at)');
    await tx.query(ENQUEUE);
    await tx.query(TAKE);
  },
};

/** One statement decides and stores, so that the limits are exact and nothing is held while a process is suspended. */
const ENQUEUE = `
  CREATE FUNCTION enqueue_webhook(id text, account text, agent text, size integer, body text, most integer, most_bytes bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    waiting bigint;
    waiting_bytes bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('berth webhook queue ' || agent, 0));
    IF EXISTS (SELECT FROM delivery_vault.webhook_bodies WHERE delivery_id = id) THEN
      RETURN true;
    END IF;
    SELECT count(*), coalesce(sum(bytes), 0) INTO waiting, waiting_bytes
      FROM delivery_vault.webhook_bodies WHERE agent_id = agent AND ended_at IS NULL;
    IF waiting >= most OR waiting_bytes + size > most_bytes THEN
      RETURN false;
    END IF;
    INSERT INTO delivery_vault.webhook_bodies (delivery_id, account_id, agent_id, bytes, sealed)
      VALUES (id, account, agent, size, body);
    RETURN true;
  END $$`;

/** Counts a call once; returns 0, or the seconds until the next call is allowed. */
const TAKE = `
  CREATE FUNCTION take_webhook_call(call text, of_agent text, of_caller text, per_minute integer)
  RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    calls bigint;
    oldest timestamptz;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('berth webhook call ' || of_agent || ' ' || of_caller, 0));
    IF EXISTS (SELECT FROM webhook_call WHERE id = call) THEN
      RETURN 0;
    END IF;
    DELETE FROM webhook_call
      WHERE agent_id = of_agent AND caller = of_caller AND at <= clock_timestamp() - interval '60 seconds';
    SELECT count(*), min(at) INTO calls, oldest FROM webhook_call WHERE agent_id = of_agent AND caller = of_caller;
    IF calls >= per_minute THEN
      RETURN greatest(1, ceil(extract(epoch FROM oldest + interval '60 seconds' - clock_timestamp()))::integer);
    END IF;
    INSERT INTO webhook_call (id, agent_id, caller) VALUES (call, of_agent, of_caller);
    RETURN 0;
  END $$`;
