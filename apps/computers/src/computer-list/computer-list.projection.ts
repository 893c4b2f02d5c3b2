import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SecretBox, SqlRunner } from '@berth/persistence';
import { keptKeysOf } from '@berth/personal-data';
import { computerCodec } from '../computer/computer.events.js';
import type { ComputerEvent } from '../computer/computer.js';
import { identityFrom } from '../personal-data/computer-identity.js';
import { viewerSessionCodec } from '../viewer/viewer-session.js';
import { evolveRow, type ComputerRow, type OpenIdentity } from './computer-row.js';
import { applySessions, createSessionTable } from './session-rows.js';

const COLUMNS = `
  id text COLLATE "C" PRIMARY KEY,
  account_id text NOT NULL,
  end_user_id text,
  name text,
  external_user_id text,
  display jsonb NOT NULL,
  resources jsonb NOT NULL,
  idle_ttl_seconds integer NOT NULL,
  state text NOT NULL,
  state_reason text,
  state_changed_at timestamptz(3) NOT NULL,
  sleep_depth text,
  epoch integer NOT NULL,
  host text NOT NULL,
  deadline_at timestamptz(3),
  woken_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL`;

const COMPUTERS_AT_ONCE = 500;

const table = (suffix: string): string => `computer_list_${suffix}`;

/** Names the projection, for waiting on it. */
export const COMPUTER_LIST = { name: 'computer-list' } as const;

/**
 * One row per computer until its removal is complete, and one per viewer session that has not ended. Together in one
 * projection, so that whether the computer of an open session is awake is always seen as of the same moment.
 */
export const computerListProjection = (box: SecretBox): Projection => ({
  name: COMPUTER_LIST.name,
  version: 1,
  categories: [computerCodec.category, viewerSessionCodec.category],

  async createTables(tx, suffix) {
    const name = table(suffix);
    await tx.query(`CREATE TABLE ${name} (${COLUMNS})`);
    await tx.query(`CREATE INDEX ON ${name} (account_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${name} (end_user_id) WHERE end_user_id IS NOT NULL`);
    await tx.query(`CREATE INDEX ON ${name} (host)`);
    await tx.query(
      `CREATE INDEX ON ${name} (state_changed_at) WHERE state IN ('starting', 'stopping', 'deleting')`,
    );
    await tx.query(`CREATE INDEX ON ${name} (state_changed_at) WHERE sleep_depth = 'warm'`);
    await createSessionTable(tx, suffix);
  },

  ...tablesBehindViews('computer_list', 'viewer_sessions'),

  async apply(tx, suffix, events) {
    const byCategory = Map.groupBy(events, ({ stream }) => stream.slice(0, stream.indexOf('-')));
    const ofComputers = byCategory.get(computerCodec.category) ?? [];
    const byComputer = Map.groupBy(ofComputers, ({ stream }) =>
      stream.slice(computerCodec.category.length + 1),
    );
    const ids = [...byComputer.keys()];
    for (let from = 0; from < ids.length; from += COMPUTERS_AT_ONCE) {
      const some = ids.slice(from, from + COMPUTERS_AT_ONCE);
      await applyTo(tx, suffix, box, new Map(some.map((id) => [id, decoded(byComputer.get(id) ?? [])])));
    }
    await applySessions(tx, suffix, byCategory.get(viewerSessionCodec.category) ?? []);
  },
});

const decoded = (events: readonly RecordedEvent[]): readonly ComputerEvent[] =>
  events.map((event) => computerCodec.fromStored(event));

const applyTo = async (
  tx: SqlRunner,
  suffix: string,
  box: SecretBox,
  byComputer: ReadonlyMap<string, readonly ComputerEvent[]>,
): Promise<void> => {
  const found = await tx.query<ComputerRow>(`SELECT * FROM ${table(suffix)} WHERE id = ANY($1)`, [
    [...byComputer.keys()],
  ]);
  const before = new Map(found.map((row) => [row.id, row]));
  const keys = await keptKeysOf(tx, box, [...byComputer.values()].flatMap(ownersIn));
  const open: OpenIdentity = ({ computerId, personal }) =>
    identityFrom(keys.get(personal.endUserId ?? ''), computerId, personal);
  const after = [...byComputer].map(
    ([id, events]) =>
      [id, events.reduce((row, event) => evolveRow(row, event, open), before.get(id) ?? null)] as const,
  );
  const gone = after.filter(([, row]) => row === null).map(([id]) => id);
  if (gone.length > 0) await tx.query(`DELETE FROM ${table(suffix)} WHERE id = ANY($1)`, [gone]);
  await upsert(
    tx,
    table(suffix),
    after.flatMap(([, row]) => row ?? []),
  );
};

/** The end users whose computers the events create. */
const ownersIn = (events: readonly ComputerEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'ComputerCreated' ? (event.data.personal.endUserId ?? []) : []));

const upsert = async (tx: SqlRunner, name: string, rows: readonly ComputerRow[]): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return;
  const assignments = columns
    .filter((column) => column !== 'id')
    .map((column) => `${column} = excluded.${column}`);
  await tx.query(
    `INSERT INTO ${name} (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)
     ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}`,
    [JSON.stringify(rows)],
  );
};
