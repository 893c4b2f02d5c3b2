import type { Migration } from '@berth/persistence';

/** Copies of the next wakes that `schedules` decides; null if nothing wakes the agent. */
export const createNextWakes: Migration = {
  name: '2026-11-23-create-next-wakes',
  up: async (tx) => {
    await tx.query(`
      CREATE TABLE agent_next_wake (
        agent_id text COLLATE "C" PRIMARY KEY,
        next_wake_at timestamptz,
        position numeric(20) NOT NULL
      )`);
  },
};
