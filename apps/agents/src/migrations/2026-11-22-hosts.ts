import type { Migration } from '@berth/persistence';

/** The figures that hosts report; null until a host of this release has announced itself. */
export const addHostFigures: Migration = {
  name: '2026-11-22-hosts',
  async up(query) {
    await query.query('ALTER TABLE agent_hosts ADD COLUMN figures jsonb');
  },
};
