import type { Migration } from '@berth/persistence';

/** Finds what an agent was sent in the last seconds, however many deliveries are kept. */
export const createRecentWebhooks: Migration = {
  name: '2026-11-26-recent-webhooks',
  async up(tx) {
    await tx.query('CREATE INDEX ON delivery_vault.webhook_bodies (agent_id, stored_at)');
    await tx.query('DROP INDEX delivery_vault.webhook_bodies_agent_id_idx');
  },
};
