import type { Migration } from '@berth/persistence';

/** Records whether a stored webhook was accepted or refused, so that a refused one is never handed over. */
export const createRefusedWebhooks: Migration = {
  name: '2026-11-28-refused-webhooks',
  async up(tx) {
    await tx.query(`
      ALTER TABLE delivery_vault.webhook_bodies
        ADD COLUMN tries text[] NOT NULL DEFAULT '{}',
        ADD COLUMN accepted boolean NOT NULL DEFAULT false,
        ADD COLUMN refused boolean NOT NULL DEFAULT false`);
    // Versions before this one handed over whatever is in the log.
    await tx.query('UPDATE delivery_vault.webhook_bodies SET accepted = true WHERE ended_at IS NULL');
    await tx.query(ENQUEUE);
    await tx.query(ACCEPT);
  },
};

/**
 * Like the version without a try, which processes of an earlier version still call. A try to accept a refused webhook
 * stores it again, at the end of the queue.
 */
const ENQUEUE = `
  CREATE FUNCTION enqueue_webhook(id text, account text, agent text, size integer, body text, most integer,
    most_bytes bigint, try text)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    waiting bigint;
    waiting_bytes bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('berth webhook queue ' || agent, 0));
    UPDATE delivery_vault.webhook_bodies SET tries = tries || try, stored_at = now()
      WHERE delivery_id = id AND ended_at IS NULL AND NOT accepted;
    IF FOUND OR EXISTS (SELECT FROM delivery_vault.webhook_bodies WHERE delivery_id = id AND NOT refused) THEN
      RETURN true;
    END IF;
    SELECT count(*), coalesce(sum(bytes), 0) INTO waiting, waiting_bytes
      FROM delivery_vault.webhook_bodies WHERE agent_id = agent AND ended_at IS NULL;
    IF waiting >= most OR waiting_bytes + size > most_bytes THEN
      RETURN false;
    END IF;
    DELETE FROM delivery_vault.webhook_bodies WHERE delivery_id = id;
    INSERT INTO delivery_vault.webhook_bodies (delivery_id, account_id, agent_id, bytes, sealed, tries)
      VALUES (id, account, agent, size, body, ARRAY[try]);
    RETURN true;
  END $$`;

/** Like the version without tries. */
const ACCEPT = `
  CREATE FUNCTION accept_webhooks(ids text[], accounts text[], agents text[], callers text[], sizes integer[], bodies text[],
    calls_per_minute integer, this_minute bigint, messages_per_minute integer, most integer, most_bytes bigint,
    tries text[])
  RETURNS TABLE (outcome text, wait integer) LANGUAGE plpgsql AS $$
  DECLARE
    one record;
  BEGIN
    PERFORM pg_advisory_xact_lock(lock.key) FROM (
      SELECT DISTINCT hashtextextended('berth webhook queue ' || agent, 0) AS key FROM unnest(agents) agent ORDER BY key
    ) lock;
    FOR one IN
      SELECT * FROM unnest(ids, accounts, agents, callers, sizes, bodies, tries) WITH ORDINALITY
        AS made (id, account, agent, caller, size, body, try, place) ORDER BY place
    LOOP
      wait := CASE WHEN one.caller IS NULL THEN 0
        ELSE take_webhook_call(one.id, one.agent, one.caller, calls_per_minute) END;
      outcome := CASE
        WHEN wait > 0 THEN 'too_many_calls'
        WHEN NOT take_from_message_budget(one.agent, one.id, this_minute, messages_per_minute) THEN 'too_many_messages'
        WHEN NOT enqueue_webhook(one.id, one.account, one.agent, one.size, one.body, most, most_bytes, one.try)
          THEN 'queue_full'
        ELSE 'stored' END;
      RETURN NEXT;
    END LOOP;
  END $$`;
