import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';

/** Built like the list of agents: one row per stream, folded in JavaScript, written by bulk statements. */
export const BOAT_CATEGORY = 'benchBoat';

interface BoatRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly state: string;
  readonly labels: object;
  readonly guest: object;
  readonly epoch: number;
  readonly state_changed_at: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const COLUMNS = `
  id text PRIMARY KEY,
  account_id text NOT NULL,
  name text NOT NULL,
  state text NOT NULL,
  labels jsonb NOT NULL,
  guest jsonb NOT NULL,
  epoch integer NOT NULL,
  state_changed_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL`;

const table = (suffix: string): string => `boat_list_${suffix}`;

export const boatListProjection: Projection = {
  name: 'boat-list',
  version: 1,
  categories: [BOAT_CATEGORY],

  async createTables(tx, suffix) {
    await tx.query(`CREATE TABLE ${table(suffix)} (${COLUMNS})`);
    await tx.query(`CREATE INDEX ON ${table(suffix)} (account_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${table(suffix)} (account_id, name)`);
  },

  ...tablesBehindViews('boat_list'),

  async apply(tx, suffix, events) {
    const ids = [...new Set(events.map(idOf))];
    const found = await tx.query<BoatRow>(`SELECT * FROM ${table(suffix)} WHERE id = ANY($1)`, [ids]);
    const rows = new Map(found.map((row) => [row.id, row]));
    for (const event of events) rows.set(idOf(event), evolve(rows.get(idOf(event)), event));
    await save(tx, suffix, [...rows.values()]);
  },
};

const idOf = ({ stream }: RecordedEvent): string => stream.slice(BOAT_CATEGORY.length + 1);

const evolve = (row: BoatRow | undefined, event: RecordedEvent): BoatRow => {
  const at = event.createdAt.toISOString();
  if (row === undefined) {
    return {
      id: idOf(event),
      account_id: event.metadata.accountId,
      name: String(event.data['name'] ?? ''),
      state: event.type,
      labels: { tier: 'bench' },
      guest: {},
      epoch: 0,
      state_changed_at: at,
      created_at: at,
      updated_at: at,
    };
  }
  return { ...row, state: event.type, epoch: row.epoch + 1, state_changed_at: at, updated_at: at };
};

const save = async (tx: SqlRunner, suffix: string, rows: readonly BoatRow[]): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {});
  const assignments = columns
    .filter((column) => column !== 'id')
    .map((column) => `${column} = excluded.${column}`);
  await tx.query(
    `INSERT INTO ${table(suffix)} (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${table(suffix)}, $1::jsonb)
     ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}`,
    [JSON.stringify(rows)],
  );
};
