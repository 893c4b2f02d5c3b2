import type { SqlRunner } from '@berth/persistence';
import { METERED_PARTS } from '../pricing/terms.js';

/** The tables of the projection without their suffix, which are the names of their views. */
export const USAGE_TABLES = [
  'usage_agents',
  'usage_days',
  'usage_terms',
  'usage_plans',
  'usage_forgotten',
  'usage_failed_chats',
  'usage_latest',
] as const;

/** Metered hosting of an agent and day in millionths of a cent: rounded once, half up. */
export const roundedHosting = (metered: string): string =>
  `div(2 * ${metered} + ${METERED_PARTS}, 2 * ${METERED_PARTS})`;

/** Times are Unix milliseconds and days are counted from 1970-01-01, because usage is counted in whole numbers. */
export const createUsageTables = async (tx: SqlRunner, suffix: string): Promise<void> => {
  await tx.query(`
    CREATE TABLE usage_agents_${suffix} (
      agent_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      end_user_id text COLLATE "C",
      name text, external_id text, external_user_id text,
      created_ms bigint NOT NULL,
      deleted_ms bigint,
      state text NOT NULL,
      running_ms bigint,
      counted_ms bigint NOT NULL,
      vcpu_micros bigint NOT NULL, mem_mb bigint NOT NULL, disk_gb bigint NOT NULL
    )`);
  await tx.query(`CREATE INDEX ON usage_agents_${suffix} (account_id, external_user_id)`);
  await tx.query(`CREATE INDEX ON usage_agents_${suffix} (account_id) WHERE deleted_ms IS NULL`);
  await tx.query(`CREATE INDEX ON usage_agents_${suffix} (end_user_id) WHERE end_user_id IS NOT NULL`);
  await tx.query(`
    CREATE TABLE usage_days_${suffix} (
      account_id text COLLATE "C" NOT NULL,
      day bigint NOT NULL,
      agent_id text COLLATE "C" NOT NULL,
      active_ms bigint NOT NULL,
      vcpu numeric NOT NULL, mem numeric NOT NULL, disk numeric NOT NULL, metered numeric NOT NULL,
      wakes bigint NOT NULL, chats bigint NOT NULL, executions bigint NOT NULL,
      llm_requests bigint NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, ai numeric NOT NULL,
      hosting numeric NOT NULL GENERATED ALWAYS AS (${roundedHosting('metered')}) STORED,
      PRIMARY KEY (account_id, day, agent_id)
    )`);
  await tx.query(`
    CREATE TABLE usage_terms_${suffix} (
      account_id text COLLATE "C" NOT NULL, since_ms bigint NOT NULL, plan_id text NOT NULL, hosting text NOT NULL,
      vcpu_hour numeric, mem_gb_hour numeric, disk_gb_month numeric, month_price numeric,
      PRIMARY KEY (account_id, since_ms)
    )`);
  await tx.query(`
    CREATE TABLE usage_plans_${suffix} (
      plan_id text PRIMARY KEY, hosting text NOT NULL,
      vcpu_hour numeric, mem_gb_hour numeric, disk_gb_month numeric, month_price numeric
    )`);
  await tx.query(`CREATE TABLE usage_forgotten_${suffix} (end_user_id text COLLATE "C" PRIMARY KEY)`);
  await tx.query(`CREATE TABLE usage_failed_chats_${suffix} (delivery_id text COLLATE "C" PRIMARY KEY)`);
  await tx.query(`CREATE TABLE usage_latest_${suffix} (
      one boolean PRIMARY KEY, latest_ms bigint NOT NULL, position numeric NOT NULL
    )`);
};

export const dropUsageTables = async (tx: SqlRunner, suffix: string): Promise<void> => {
  for (const name of USAGE_TABLES) await tx.query(`DROP TABLE IF EXISTS ${name}_${suffix} CASCADE`);
};

export const publishUsageTables = async (tx: SqlRunner, suffix: string): Promise<void> => {
  // Replaced, not dropped: the views of analysts are made of them.
  for (const name of USAGE_TABLES)
    await tx.query(`CREATE OR REPLACE VIEW ${name} AS SELECT * FROM ${name}_${suffix}`);
};
