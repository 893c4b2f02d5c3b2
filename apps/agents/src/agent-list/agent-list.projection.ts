import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SecretBox, SqlRunner } from '@berth/persistence';
import { agentCodec } from '../agent/agent.events.js';
import type { AgentEvent } from '../agent/agent.js';
import { keptKeysOf } from '@berth/personal-data';
import { identityFrom } from '../personal-data/agent-identity.js';
import { evolveRow, type AgentRow, type OpenIdentity } from './agent-row.js';

const COLUMNS = `
  id text PRIMARY KEY,
  account_id text NOT NULL,
  end_user_id text,
  name text,
  template_id text NOT NULL,
  external_id text,
  external_user_id text,
  instructions text,
  labels jsonb,
  state text NOT NULL,
  state_reason text,
  state_changed_at timestamptz(3) NOT NULL,
  last_error jsonb,
  idle_ttl_seconds integer NOT NULL,
  sleep_depth text,
  source jsonb NOT NULL,
  resources jsonb NOT NULL,
  volume_gb integer,
  guest jsonb NOT NULL,
  epoch integer NOT NULL,
  host text,
  deadline_at timestamptz(3),
  woken_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL`;

/**
 * A batch of events may concern thousands of agents, and rows are read and written whole: 2,000 of the largest rows exceed
 * the maximum size of a statement, and of a string. JSON encodes a character in up to six bytes.
 */
const AGENTS_AT_ONCE = 100;
const STATEMENT_CHARS = 1_048_576;
const ROW_CHARS = 4_096;

const table = (suffix: string): string => `agent_list_${suffix}`;

/** Names the projection, for waiting on it. */
export const AGENT_LIST = { name: 'agent-list' } as const;

/**
 * The table of every read of agents: one row per agent, until its removal is complete. Personal data is in
 * plaintext; it is null if the key of the end user was destroyed before the row was built.
 */
export const agentListProjection = (box: SecretBox): Projection => ({
  name: AGENT_LIST.name,
  version: 3,
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
    await tx.query(`CREATE INDEX ON ${name} (end_user_id) WHERE end_user_id IS NOT NULL`);
    await tx.query(`CREATE INDEX ON ${name} (host)`);
    // For the reconciler, which reads only these few, no matter how many agents sleep.
    await tx.query(
      `CREATE INDEX ON ${name} (state_changed_at) WHERE state IN ('deploying', 'starting', 'stopping', 'deleting')`,
    );
    await tx.query(`CREATE INDEX ON ${name} (state_changed_at) WHERE sleep_depth = 'warm'`);
  },

  ...tablesBehindViews('agent_list'),

  async apply(tx, suffix, events) {
    const byAgent = Map.groupBy(events, ({ stream }) => stream.slice(agentCodec.category.length + 1));
    const ids = [...byAgent.keys()];
    for (let from = 0; from < ids.length; from += AGENTS_AT_ONCE) {
      const some = new Map(ids.slice(from, from + AGENTS_AT_ONCE).map((id) => [id, eventsOf(byAgent, id)]));
      await applyTo(tx, suffix, box, some);
    }
  },
});

const eventsOf = (
  byAgent: ReadonlyMap<string, readonly RecordedEvent[]>,
  id: string,
): readonly AgentEvent[] => (byAgent.get(id) ?? []).map((event) => agentCodec.fromStored(event));

const applyTo = async (
  tx: SqlRunner,
  suffix: string,
  box: SecretBox,
  byAgent: ReadonlyMap<string, readonly AgentEvent[]>,
): Promise<void> => {
  const rows = await loadRows(tx, suffix, [...byAgent.keys()]);
  const keys = await keptKeysOf(tx, box, [...byAgent.values()].flatMap(ownersIn));
  const open: OpenIdentity = ({ agentId, personal }) =>
    identityFrom(keys.get(personal.endUserId ?? ''), agentId, personal);
  for (const [id, events] of byAgent)
    rows.set(
      id,
      events.reduce((row, event) => evolveRow(row, event, open), rows.get(id) ?? null),
    );
  await saveRows(tx, suffix, rows);
};

/** The end users whose agents the events create. */
const ownersIn = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'AgentCreated.v3' ? (event.data.personal.endUserId ?? []) : []));

const loadRows = async (
  tx: SqlRunner,
  suffix: string,
  ids: readonly string[],
): Promise<Map<string, AgentRow | null>> => {
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
  for (const some of bySize(kept)) await upsert(tx, name, some);
};

/** Splits the rows into groups of at most `STATEMENT_CHARS`; a single row is far smaller. */
const bySize = (rows: readonly AgentRow[]): readonly (readonly AgentRow[])[] => {
  const runs: AgentRow[][] = [];
  let left = 0;
  for (const row of rows) {
    const size = (row.instructions?.length ?? 0) + ROW_CHARS;
    if (left < size) {
      runs.push([]);
      left = STATEMENT_CHARS;
    }
    left -= size;
    runs.at(-1)?.push(row);
  }
  return runs;
};

const upsert = async (tx: SqlRunner, name: string, kept: readonly AgentRow[]): Promise<void> => {
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
