import type { SqlRunner } from '@berth/persistence';
import { METERED_PARTS } from '../pricing/terms.js';
import { sumsOf, type MeteredKind } from './metered-kind.js';

const namesOf = ({ tables }: MeteredKind): readonly string[] => Object.values(tables);

const NUMERIC: ReadonlySet<string> = new Set(['vcpu', 'mem', 'disk', 'metered', 'ai']);

/** The type of the column of a sum. */
export const typeOfSum = (sum: string): string => (NUMERIC.has(sum) ? 'numeric' : 'bigint');

/** Metered hosting of a box and day in millionths of a cent: rounded once, half up. */
export const roundedHosting = (metered: string): string =>
  `div(2 * ${metered} + ${METERED_PARTS}, 2 * ${METERED_PARTS})`;

/** Times are Unix milliseconds and days are counted from 1970-01-01, because usage is counted in whole numbers. */
export const createUsageTables = async (kind: MeteredKind, tx: SqlRunner, suffix: string): Promise<void> => {
  const { tables, id, names } = kind;
  await tx.query(`
    CREATE TABLE ${tables.boxes}_${suffix} (
      ${id} text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      end_user_id text COLLATE "C",
      ${names.map((name) => `${name} text`).join(', ')},
      created_ms bigint NOT NULL,
      deleted_ms bigint,
      state text NOT NULL,
      running_ms bigint,
      counted_ms bigint NOT NULL,
      vcpu_micros bigint NOT NULL, mem_mb bigint NOT NULL, disk_gb bigint NOT NULL
    )`);
  await tx.query(`CREATE INDEX ON ${tables.boxes}_${suffix} (account_id, external_user_id)`);
  await tx.query(`CREATE INDEX ON ${tables.boxes}_${suffix} (account_id) WHERE deleted_ms IS NULL`);
  await tx.query(`CREATE INDEX ON ${tables.boxes}_${suffix} (end_user_id) WHERE end_user_id IS NOT NULL`);
  await tx.query(`
    CREATE TABLE ${tables.days}_${suffix} (
      account_id text COLLATE "C" NOT NULL,
      day bigint NOT NULL,
      ${id} text COLLATE "C" NOT NULL,
      ${sumsOf(kind)
        .map((sum) => `${sum} ${typeOfSum(sum)} NOT NULL`)
        .join(', ')},
      hosting numeric NOT NULL GENERATED ALWAYS AS (${roundedHosting('metered')}) STORED,
      PRIMARY KEY (account_id, day, ${id})
    )`);
  await tx.query(`
    CREATE TABLE ${tables.terms}_${suffix} (
      account_id text COLLATE "C" NOT NULL, since_ms bigint NOT NULL, plan_id text NOT NULL, hosting text NOT NULL,
      vcpu_hour numeric, mem_gb_hour numeric, disk_gb_month numeric, month_price numeric,
      PRIMARY KEY (account_id, since_ms)
    )`);
  await tx.query(`
    CREATE TABLE ${tables.plans}_${suffix} (
      plan_id text PRIMARY KEY, hosting text NOT NULL,
      vcpu_hour numeric, mem_gb_hour numeric, disk_gb_month numeric, month_price numeric
    )`);
  await tx.query(`CREATE TABLE ${tables.forgotten}_${suffix} (end_user_id text COLLATE "C" PRIMARY KEY)`);
  if (tables.failedChats !== undefined)
    await tx.query(`CREATE TABLE ${tables.failedChats}_${suffix} (delivery_id text COLLATE "C" PRIMARY KEY)`);
  await tx.query(`CREATE TABLE ${tables.latest}_${suffix} (
      one boolean PRIMARY KEY, latest_ms bigint NOT NULL, position numeric NOT NULL
    )`);
};

export const dropUsageTables = async (kind: MeteredKind, tx: SqlRunner, suffix: string): Promise<void> => {
  for (const name of namesOf(kind)) await tx.query(`DROP TABLE IF EXISTS ${name}_${suffix} CASCADE`);
};

export const publishUsageTables = async (kind: MeteredKind, tx: SqlRunner, suffix: string): Promise<void> => {
  // Replaced, not dropped: the views of analysts are made of them.
  for (const name of namesOf(kind))
    await tx.query(`CREATE OR REPLACE VIEW ${name} AS SELECT * FROM ${name}_${suffix}`);
};
