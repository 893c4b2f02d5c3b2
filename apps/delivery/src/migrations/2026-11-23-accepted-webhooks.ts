import type { Migration } from '@berth/persistence';

/** Accepts many webhooks in one statement, which costs one flush. */
export const createAcceptedWebhooks: Migration = {
  name: '2026-11-23-accepted-webhooks',
  async up(tx) {
    await tx.query(ACCEPT);
    await tx.query(TAKE);
  },
};

/**
 * Decides about each as if it came alone, in the order given. The locks of all agents are taken first, in one order for
 * all processes, so that no two of them wait for each other.
 */
const ACCEPT = `
  CREATE FUNCTION accept_webhooks(ids text[], accounts text[], agents text[], callers text[], sizes integer[], bodies text[],
    calls_per_minute integer, this_minute bigint, messages_per_minute integer, most integer, most_bytes bigint)
  RETURNS TABLE (outcome text, wait integer) LANGUAGE plpgsql AS $$
  DECLARE
    one record;
  BEGIN
    PERFORM pg_advisory_xact_lock(lock.key) FROM (
      SELECT DISTINCT hashtextextended('berth webhook queue ' || agent, 0) AS key FROM unnest(agents) agent ORDER BY key
    ) lock;
    FOR one IN
      SELECT * FROM unnest(ids, accounts, agents, callers, sizes, bodies) WITH ORDINALITY
        AS made (id, account, agent, caller, size, body, place) ORDER BY place
    LOOP
      wait := CASE WHEN one.caller IS NULL THEN 0
        ELSE take_webhook_call(one.id, one.agent, one.caller, calls_per_minute) END;
      outcome := CASE
        WHEN wait > 0 THEN 'too_many_calls'
        WHEN NOT take_from_message_budget(one.agent, one.id, this_minute, messages_per_minute) THEN 'too_many_messages'
        WHEN NOT enqueue_webhook(one.id, one.account, one.agent, one.size, one.body, most, most_bytes) THEN 'queue_full'
        ELSE 'stored' END;
      RETURN NEXT;
    END LOOP;
  END $$`;

/**
 * Like the earlier version, but also deletes calls whose time is in the future because the clock was set back: until then
 * they would count against the limit.
 */
const TAKE = `
  CREATE OR REPLACE FUNCTION take_webhook_call(call text, of_agent text, of_caller text, per_minute integer)
  RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    calls bigint;
    oldest timestamptz;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('berth webhook call ' || of_agent || ' ' || of_caller, 0));
    IF EXISTS (SELECT FROM webhook_call WHERE id = call) THEN
      RETURN 0;
    END IF;
    DELETE FROM webhook_call WHERE agent_id = of_agent AND caller = of_caller
      AND (at <= clock_timestamp() - interval '60 seconds' OR at > clock_timestamp() + interval '5 seconds');
    SELECT count(*), min(at) INTO calls, oldest FROM webhook_call WHERE agent_id = of_agent AND caller = of_caller;
    IF calls >= per_minute THEN
      RETURN greatest(1, ceil(extract(epoch FROM oldest + interval '60 seconds' - clock_timestamp()))::integer);
    END IF;
    INSERT INTO webhook_call (id, agent_id, caller) VALUES (call, of_agent, of_caller);
    RETURN 0;
  END $$`;
