import { publishAnalystView, type SqlRunner } from '@berth/persistence';
import { AGENTS } from '../meter/agents.kind.js';
import { publishUsageTables } from '../meter/usage-tables.js';
import { USAGE_BY_AGENT, USAGE_DAILY } from './usage-analytics.js';

/** Publishes the tables of the projection, and creates the views for analysts again, which read these tables. */
export const publishUsage = async (tx: SqlRunner, suffix: string): Promise<void> => {
  for (const { name } of [USAGE_BY_AGENT, USAGE_DAILY])
    await tx.query(`DROP VIEW IF EXISTS analytics.${name}`);
  await publishUsageTables(AGENTS, tx, suffix);
  for (const view of [USAGE_DAILY, USAGE_BY_AGENT]) await publishAnalystView(tx, view);
};
