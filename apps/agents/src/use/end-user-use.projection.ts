import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { agentCodec } from '../agent/agent.events.js';
import { byMonth, changeUse, type AgentUse } from './agent-use.js';

/** Wakes count for this long. */
export const WAKE_WINDOW_MS = 3_600_000;

const OWNER = 'end_user_id text COLLATE "C" NOT NULL';

interface Wake extends Pick<AgentUse, 'agent_id' | 'end_user_id'> {
  readonly epoch: number;
  readonly at: string;
}

interface MonthShare extends Pick<AgentUse, 'end_user_id'> {
  readonly month: string;
  readonly awake_ms: number;
}

/**
 * What the agents of each end user have used: the agents that exist, the time for which they were awake by month, and the
 * wakes of the last hour. Agents without an end user leave no trace here.
 */
export const endUserUseProjection: Projection = {
  name: 'end-user-use',
  version: 3,
  categories: [agentCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`
      CREATE TABLE end_user_agents_${suffix} (
        agent_id text COLLATE "C" PRIMARY KEY, ${OWNER}, state text NOT NULL, epoch integer NOT NULL,
        running_since timestamptz(3)
      )`);
    await tx.query(`
      CREATE INDEX ON end_user_agents_${suffix} (end_user_id) WHERE running_since IS NOT NULL`);
    await tx.query(`
      CREATE TABLE end_user_months_${suffix} (
        ${OWNER}, month date NOT NULL, awake_ms bigint NOT NULL, PRIMARY KEY (end_user_id, month)
      )`);
    await tx.query(`
      CREATE TABLE end_user_wakes_${suffix} (
        agent_id text COLLATE "C" NOT NULL, epoch integer NOT NULL, ${OWNER}, at timestamptz(3) NOT NULL,
        ordinal bigint NOT NULL, PRIMARY KEY (agent_id, epoch)
      )`);
    // No index on the times: the planner would take it for a look at one ordinal, and read an hour.
    await tx.query(`CREATE INDEX ON end_user_wakes_${suffix} (end_user_id, ordinal)`);
  },

  ...tablesBehindViews('end_user_agents', 'end_user_months', 'end_user_wakes'),

  async apply(tx, suffix, events) {
    const uses = await loadUses(tx, suffix, events);
    const wakes: Wake[] = [];
    const shares: MonthShare[] = [];
    for (const event of events) {
      const id = agentOf(event);
      const before = uses.get(id) ?? null;
      const { use, awake, wake } = changeUse(before, agentCodec.fromStored(event));
      if (before !== null || use !== null) uses.set(id, use);
      if (before === null) continue;
      const { end_user_id } = before;
      if (wake !== null) wakes.push({ agent_id: id, end_user_id, ...wake });
      if (awake === null) continue;
      for (const [month, awake_ms] of byMonth(awake)) shares.push({ end_user_id, month, awake_ms });
    }
    await saveUses(tx, suffix, uses);
    await addShares(tx, suffix, shares);
    await addWakes(tx, suffix, wakes);
  },
};

const agentOf = ({ stream }: RecordedEvent): string => stream.slice(agentCodec.category.length + 1);

const loadUses = async (
  tx: SqlRunner,
  suffix: string,
  events: readonly RecordedEvent[],
): Promise<Map<string, AgentUse | null>> => {
  const ids = [...new Set(events.map(agentOf))];
  const found = await tx.query<Omit<AgentUse, 'running_since'> & { readonly running_since: Date | null }>(
    `SELECT * FROM end_user_agents_${suffix} WHERE agent_id = ANY($1)`,
    [ids],
  );
  return new Map(
    found.map((row) => [row.agent_id, { ...row, running_since: row.running_since?.toISOString() ?? null }]),
  );
};

const saveUses = async (
  tx: SqlRunner,
  suffix: string,
  uses: ReadonlyMap<string, AgentUse | null>,
): Promise<void> => {
  const gone = [...uses].filter(([, use]) => use === null).map(([id]) => id);
  if (gone.length > 0)
    await tx.query(`DELETE FROM end_user_agents_${suffix} WHERE agent_id = ANY($1)`, [gone]);
  const kept = [...uses.values()].filter((use) => use !== null);
  if (kept.length === 0) return;
  await tx.query(
    `INSERT INTO end_user_agents_${suffix}
     SELECT * FROM jsonb_populate_recordset(NULL::end_user_agents_${suffix}, $1::jsonb)
     ON CONFLICT (agent_id) DO UPDATE
       SET state = excluded.state, epoch = excluded.epoch, running_since = excluded.running_since`,
    [JSON.stringify(kept)],
  );
};

const addShares = async (tx: SqlRunner, suffix: string, shares: readonly MonthShare[]): Promise<void> => {
  if (shares.length === 0) return;
  await tx.query(
    `INSERT INTO end_user_months_${suffix} AS kept (end_user_id, month, awake_ms)
     SELECT end_user_id, month, sum(awake_ms)
     FROM jsonb_populate_recordset(NULL::end_user_months_${suffix}, $1::jsonb)
     GROUP BY end_user_id, month
     ON CONFLICT (end_user_id, month) DO UPDATE SET awake_ms = kept.awake_ms + excluded.awake_ms`,
    [JSON.stringify(shares)],
  );
};

/**
 * Numbers the wakes, and drops what left the window before the newest wake of the end user, so that the rows do not depend
 * on the batches. No wake is earlier than the one before it in the log: the n-th newest is in the window exactly if n wakes
 * are. One statement, because it runs while the wake is under way.
 */
const addWakes = async (tx: SqlRunner, suffix: string, wakes: readonly Wake[]): Promise<void> => {
  if (wakes.length === 0) return;
  const table = `end_user_wakes_${suffix}`;
  await tx.query(
    `WITH numbered AS (
       SELECT agent_id, epoch, end_user_id, greatest(max(at) OVER earlier, last_at) AS at,
         coalesce(last_ordinal, 0) + row_number() OVER earlier AS ordinal
       FROM ROWS FROM (
         jsonb_to_recordset($1::jsonb) AS (agent_id text, epoch integer, end_user_id text, at timestamptz)
       ) WITH ORDINALITY AS wake (agent_id, epoch, end_user_id, at, place)
       LEFT JOIN LATERAL (
         SELECT at AS last_at, ordinal AS last_ordinal FROM ${table} known
         WHERE known.end_user_id = wake.end_user_id ORDER BY ordinal DESC LIMIT 1
       ) AS last ON true
       WINDOW earlier AS (PARTITION BY end_user_id ORDER BY place)
     ), windows AS (
       SELECT end_user_id, max(at) - make_interval(secs => $2) AS since FROM numbered GROUP BY end_user_id
     ), added AS (
       INSERT INTO ${table} (agent_id, epoch, end_user_id, at, ordinal)
       SELECT agent_id, epoch, end_user_id, at, ordinal FROM numbered JOIN windows USING (end_user_id) WHERE at > since
       ON CONFLICT (agent_id, epoch) DO NOTHING
     )
     DELETE FROM ${table} AS old USING windows
     WHERE old.end_user_id = windows.end_user_id AND old.ordinal < least(
       (SELECT ordinal FROM ${table} known
        WHERE known.end_user_id = windows.end_user_id AND at > since ORDER BY ordinal LIMIT 1),
       (SELECT min(ordinal) FROM numbered WHERE numbered.end_user_id = windows.end_user_id AND at > since)
     )`,
    [JSON.stringify(wakes), WAKE_WINDOW_MS / 1_000],
  );
};
