import type { Projection } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { scheduleCodec } from '../schedule/schedule.events.js';
import { BatchOfChanges } from './batch-of-changes.js';

const VIEWS = ['schedule_due', 'schedule_firing', 'schedule_fired'] as const;

/**
 * What timers need: when entries are due (`schedule_due`), the firings that are not over (`schedule_firing`), and every
 * `nextRunAt` that has fired (`schedule_fired`).
 */
export const dueListProjection: Projection = {
  name: 'due-list',
  version: 1,
  categories: [scheduleCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`
      CREATE TABLE schedule_due_${suffix} (
        agent_id text COLLATE "C", entry_id text COLLATE "C", account_id text NOT NULL, due_at timestamptz NOT NULL,
        PRIMARY KEY (agent_id, entry_id)
      )`);
    await tx.query(`CREATE INDEX ON schedule_due_${suffix} (due_at)`);
    await tx.query(`
      CREATE TABLE schedule_firing_${suffix} (
        delivery_id text COLLATE "C" PRIMARY KEY, agent_id text COLLATE "C" NOT NULL, account_id text NOT NULL,
        fired_at timestamptz NOT NULL
      )`);
    await tx.query(`CREATE INDEX ON schedule_firing_${suffix} (agent_id)`);
    await tx.query(`
      CREATE TABLE schedule_fired_${suffix} (
        agent_id text COLLATE "C", entry_id text COLLATE "C", run_at timestamptz, PRIMARY KEY (agent_id, entry_id, run_at)
      )`);
  },

  async dropTables(tx, suffix) {
    for (const view of VIEWS) await tx.query(`DROP TABLE IF EXISTS ${view}_${suffix} CASCADE`);
  },

  async publish(tx, suffix) {
    for (const view of VIEWS)
      await tx.query(`CREATE OR REPLACE VIEW ${view} AS SELECT * FROM ${view}_${suffix}`);
  },

  async apply(tx, suffix, recorded) {
    const changes = new BatchOfChanges(recorded.map((event) => scheduleCodec.fromStored(event)));
    await applyDue(tx, suffix, changes);
    await applyFirings(tx, suffix, changes);
  },
};

const applyDue = async (tx: SqlRunner, suffix: string, changes: BatchOfChanges): Promise<void> => {
  const table = `schedule_due_${suffix}`;
  const { replaced, changed, due } = changes;
  if (replaced.size > 0) await tx.query(`DELETE FROM ${table} WHERE agent_id = ANY($1)`, [[...replaced]]);
  if (changed.length > 0)
    await tx.query(
      `DELETE FROM ${table} USING unnest($1::text[], $2::text[]) AS gone (agent, entry)
       WHERE agent_id = gone.agent AND entry_id = gone.entry`,
      [changed.map(([agentId]) => agentId), changed.map(([, entryId]) => entryId)],
    );
  if (due.length > 0)
    await tx.query(
      `INSERT INTO ${table} SELECT * FROM jsonb_to_recordset($1::jsonb)
         AS made (agent_id text, entry_id text, account_id text, due_at timestamptz)`,
      [JSON.stringify(due)],
    );
};

const applyFirings = async (tx: SqlRunner, suffix: string, changes: BatchOfChanges): Promise<void> => {
  const { closed, forgotten, firings, fired } = changes;
  if (forgotten.size > 0)
    for (const table of ['schedule_firing', 'schedule_fired'])
      await tx.query(`DELETE FROM ${table}_${suffix} WHERE agent_id = ANY($1)`, [[...forgotten]]);
  if (closed.size > 0)
    await tx.query(`DELETE FROM schedule_firing_${suffix} WHERE delivery_id = ANY($1)`, [[...closed]]);
  if (firings.size > 0)
    await tx.query(
      `INSERT INTO schedule_firing_${suffix} SELECT * FROM jsonb_to_recordset($1::jsonb)
         AS made (delivery_id text, agent_id text, account_id text, fired_at timestamptz)
       ON CONFLICT DO NOTHING`,
      [JSON.stringify([...firings.values()])],
    );
  const kept = fired.filter(({ agent_id: agentId }) => !forgotten.has(agentId));
  if (kept.length > 0)
    await tx.query(
      `INSERT INTO schedule_fired_${suffix} SELECT * FROM jsonb_to_recordset($1::jsonb)
         AS made (agent_id text, entry_id text, run_at timestamptz)
       ON CONFLICT DO NOTHING`,
      [JSON.stringify(kept)],
    );
};
