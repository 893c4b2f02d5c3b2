import type { Migration } from '@berth/persistence';

/** Tables besides the projections: the count of messages in the current minute. */
export const createDeliveryTables: Migration = {
  name: '2026-11-21-delivery',
  async up(tx) {
    await tx.query(
      'CREATE UNLOGGED TABLE message_budget (agent_id text PRIMARY KEY, minute bigint NOT NULL, taken integer NOT NULL)',
    );
  },
};
