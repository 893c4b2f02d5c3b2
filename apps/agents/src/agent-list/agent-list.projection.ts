import type { Projection, RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { agentCodec } from '../agent/agent.events.js';
import { evolveRow, type AgentRow } from './agent-row.js';

const COLUMNS = `
  id text PRIMARY KEY,
  account_id text NOT NULL,
  name text NOT NULL,
  template_id text NOT NULL,
  external_id text,
  external_user_id text,
  instructions text,
  labels jsonb NOT NULL,
  state text NOT NULL,
  state_reason text,
  state_changed_at timestamptz(3) NOT NULL,
  last_error jsonb,
  idle_ttl_seconds integer NOT NULL,
  sleep_depth text,
  source jsonb NOT NULL,
  resources jsonb NOT NULL,
  guest jsonb NOT NULL,
  epoch integer NOT NULL,
  host text,
  deadline_at timestamptz(3),
  woken_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL`;

const table = (suffix: string): string => `agent_list_${suffix}`;

/** The table behind every read of agents: one row an agent, kept until its removal is done. */
export const agentListProjection: Projection = {
  name: 'agent-list',
  version: 1,
  categories: [agentCodec.category],

  async createTables(tx, suffix) {
    const name = table(suffix);
    await tx.query(`CREATE TABLE ${name} (${COLUMNS})`);
    await tx.query(`CREATE INDEX ON ${name} (account_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${name} (account_id, name)`);
    await tx.query(`CREATE INDEX ON ${name} (account_id, external_id) WHERE external_id IS NOT NULL`);
    await tx.query(
      `CREATE INDEX ON ${name} (account_id, external_user_id) WHERE external_user_id IS NOT NULL`,
    );
    await tx.query(`CREATE INDEX ON ${name} (host)`);
    // The timers look at these few only, however many agents sleep.
    await tx.query(
      `CREATE INDEX ON ${name} (state_changed_at) WHERE state IN ('deploying', 'starting', 'stopping', 'deleting')`,
    );
    await tx.query(`CREATE INDEX ON ${name} (state_changed_at) WHERE sleep_depth = 'warm'`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${table(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query('DROP VIEW IF EXISTS agent_list');
    await tx.query(`CREATE VIEW agent_list AS SELECT * FROM ${table(suffix)}`);
  },

  async apply(tx, suffix, events) {
    const rows = await loadRows(tx, suffix, events);
    for (const recorded of events) {
      const id = recorded.stream.slice(agentCodec.category.length + 1);
      rows.set(id, evolveRow(rows.get(id) ?? null, agentCodec.fromStored(recorded)));
    }
    await saveRows(tx, suffix, rows);
  },
};

const loadRows = async (
  tx: SqlRunner,
  suffix: string,
  events: readonly RecordedEvent[],
): Promise<Map<string, AgentRow | null>> => {
  const ids = [...new Set(events.map((event) => event.stream.slice(agentCodec.category.length + 1)))];
  const found = await tx.query<AgentRow>(`SELECT * FROM ${table(suffix)} WHERE id = ANY($1)`, [ids]);
  return new Map(found.map((row) => [row.id, row]));
};

const saveRows = async (
  tx: SqlRunner,
  suffix: string,
  rows: ReadonlyMap<string, AgentRow | null>,
): Promise<void> => {
  const name = table(suffix);
  const gone = [...rows].filter(([, row]) => row === null).map(([id]) => id);
  const kept = [...rows.values()].filter((row) => row !== null);
  if (gone.length > 0) await tx.query(`DELETE FROM ${name} WHERE id = ANY($1)`, [gone]);
  if (kept.length === 0) return;
  const columns = Object.keys(kept[0] ?? {});
  const assignments = columns
    .filter((column) => column !== 'id')
    .map((column) => `${column} = excluded.${column}`);
  await tx.query(
    `INSERT INTO ${name} (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)
     ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}`,
    [JSON.stringify(kept)],
  );
};
