import type { Projection } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { agentsIn, changesOf, type AuditRow, type StreamOutcome } from './audit-rows.js';
import { AUDITED_CATEGORIES } from './audited-act.js';

const tableOf = (suffix: string): string => `audit_list_${suffix}`;
const agentsOf = (suffix: string): string => `audit_own_agents_${suffix}`;

/** Every audited act of every account; `audit_list` is the view that queries read. */
export const auditListProjection: Projection = {
  name: 'audit-list',
  version: 4,
  categories: AUDITED_CATEGORIES,

  async createTables(tx, suffix) {
    const table = tableOf(suffix);
    await tx.query(`
      CREATE TABLE ${table} (
        position bigint PRIMARY KEY,
        id text COLLATE "C" NOT NULL,
        account_id text COLLATE "C" NOT NULL,
        at timestamptz NOT NULL,
        actor_kind text NOT NULL,
        actor_id text COLLATE "C" NOT NULL,
        action text COLLATE "C" NOT NULL,
        resource_type text NOT NULL,
        resource_id text COLLATE "C" NOT NULL,
        request_id text,
        outcome text NOT NULL,
        details jsonb NOT NULL,
        stream text COLLATE "C",
        sealed jsonb
      )`);
    // A page is a range of one of these indexes, whichever filter it has.
    for (const filter of ['', 'actor_id, ', 'resource_id, ', 'action, '])
      await tx.query(`CREATE INDEX ON ${table} (account_id, ${filter}at DESC, position DESC)`);
    await tx.query(`CREATE INDEX ON ${table} (stream) WHERE stream IS NOT NULL`);
    await tx.query(`CREATE TABLE ${agentsOf(suffix)} (agent_id text COLLATE "C" PRIMARY KEY)`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${tableOf(suffix)}, ${agentsOf(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query(`
      CREATE OR REPLACE VIEW audit_list AS
      SELECT position, id, account_id, at, actor_kind, actor_id, action, resource_type, resource_id, request_id,
        outcome, details, sealed FROM ${tableOf(suffix)}`);
  },

  async apply(tx, suffix, events) {
    const known = await ownAgents(tx, suffix, agentsIn(events));
    const changes = changesOf(events, known);
    await addAgents(tx, suffix, changes.ownAgents);
    await insert(tx, suffix, changes.rows);
    await setOutcomes(tx, suffix, changes.outcomes);
  },
};

const ownAgents = async (tx: SqlRunner, suffix: string, ids: readonly string[]): Promise<Set<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(
    `SELECT agent_id AS id FROM ${agentsOf(suffix)} WHERE agent_id = ANY($1)`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
};

const addAgents = async (tx: SqlRunner, suffix: string, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  await tx.query(
    `INSERT INTO ${agentsOf(suffix)} SELECT unnest($1::text[]) ON CONFLICT (agent_id) DO NOTHING`,
    [ids],
  );
};

const insert = async (tx: SqlRunner, suffix: string, rows: readonly AuditRow[]): Promise<void> => {
  if (rows.length === 0) return;
  const table = tableOf(suffix);
  await tx.query(
    `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
     ON CONFLICT (position) DO NOTHING`,
    [JSON.stringify(rows)],
  );
};

/** After the inserts: an act and its outcome may be in one batch. */
const setOutcomes = async (
  tx: SqlRunner,
  suffix: string,
  outcomes: readonly StreamOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return;
  await tx.query(
    `UPDATE ${tableOf(suffix)} listed
     SET outcome = ended.outcome, details = listed.details || jsonb_build_object('code', ended.code)
     FROM unnest($1::text[], $2::text[], $3::text[]) AS ended (stream, outcome, code)
     WHERE listed.stream = ended.stream`,
    [
      outcomes.map(({ stream }) => stream),
      outcomes.map(({ outcome }) => outcome),
      outcomes.map(({ code }) => code),
    ],
  );
};
