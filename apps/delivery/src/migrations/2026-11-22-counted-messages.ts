import type { Migration } from '@berth/persistence';

/**
 * Which messages were counted against a budget, so that a repeated command counts once. One statement decides and
 * counts: a transaction of several would hold the agent's row while its process is suspended.
 */
export const createCountedMessages: Migration = {
  name: '2026-11-22-counted-messages',
  async up(tx) {
    await tx.query(
      'CREATE UNLOGGED TABLE counted_message (delivery_id text PRIMARY KEY, counted_at timestamptz NOT NULL DEFAULT now())',
    );
    await tx.query('CREATE INDEX ON counted_message (counted_at)');
    await tx.query(TAKE);
  },
};

/**
 * A message beyond the budget is not counted; another attempt of its command waits for the row until that is decided.
 */
const TAKE = `
  CREATE FUNCTION take_from_message_budget(of_agent text, message text, this_minute bigint, per_minute integer)
  RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO counted_message (delivery_id) VALUES (message) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN true;
    END IF;
    INSERT INTO message_budget AS budget (agent_id, minute, taken) VALUES (of_agent, this_minute, 1)
    ON CONFLICT (agent_id) DO UPDATE SET
      taken = CASE WHEN budget.minute = excluded.minute THEN budget.taken + 1 ELSE 1 END,
      minute = excluded.minute
    WHERE budget.minute <> excluded.minute OR budget.taken < per_minute;
    IF FOUND THEN
      RETURN true;
    END IF;
    DELETE FROM counted_message WHERE delivery_id = message;
    RETURN false;
  END $$`;
