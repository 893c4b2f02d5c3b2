import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { executionCodec } from '../execution/execution.events.js';
import { rowAfter, type ExecutionRow } from './execution-row.js';

const executions = (suffix: string): string => `execution_list_${suffix}`;

/** One hour longer than results are stored, so that clock skew hides no execution whose result is still readable. */
const KEPT_MS = 25 * 3_600_000;

const COLUMNS = `id text, account_id text, agent_id text, status text, exit_code bigint, detached boolean,
  timeout_seconds double precision, created_at timestamptz, ended_at timestamptz, host text, epoch bigint,
  handed_at timestamptz, cancel_requested boolean`;

/** Running and recently ended executions, without their output. */
export const executionListProjection: Projection = {
  name: 'execution-list',
  version: 1,
  categories: [executionCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`CREATE TABLE ${executions(suffix)} (
      id text PRIMARY KEY, account_id text NOT NULL, agent_id text NOT NULL, status text NOT NULL, exit_code bigint,
      detached boolean NOT NULL, timeout_seconds double precision NOT NULL, created_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3), host text NOT NULL, epoch bigint NOT NULL, handed_at timestamptz(3) NOT NULL,
      cancel_requested boolean NOT NULL)`);
    await tx.query(`CREATE INDEX ON ${executions(suffix)} (agent_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${executions(suffix)} (handed_at) WHERE status = 'running'`);
    await tx.query(`CREATE INDEX ON ${executions(suffix)} (ended_at) WHERE ended_at IS NOT NULL`);
  },

  ...tablesBehindViews('execution_list'),

  async apply(tx, suffix, events) {
    const existing = await present(tx, suffix, events);
    const changed = new Map<string, ExecutionRow>();
    for (const recorded of events) {
      const event = executionCodec.fromStored(recorded);
      const { executionId } = event.data;
      const row = rowAfter(changed.get(executionId) ?? existing.get(executionId), event);
      if (row !== undefined) changed.set(executionId, row);
    }
    if (changed.size > 0) await write(tx, suffix, [...changed.values()]);
    await prune(tx, suffix, events);
  },
};

/** Existing rows that the batch changes. */
const present = async (
  tx: SqlRunner,
  suffix: string,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<string, ExecutionRow>> => {
  const begun = new Set<string>();
  const wanted = new Set<string>();
  for (const recorded of events) {
    const { type, data } = executionCodec.fromStored(recorded);
    if (type === 'ExecutionSubmitted') begun.add(data.executionId);
    else if (!begun.has(data.executionId)) wanted.add(data.executionId);
  }
  if (wanted.size === 0) return new Map();
  const rows = await tx.query<{ row: ExecutionRow }>(
    `SELECT to_jsonb(existing) AS row FROM ${executions(suffix)} AS existing WHERE id = ANY($1)`,
    [[...wanted]],
  );
  return new Map(rows.map(({ row }) => [row.id, row]));
};

const write = async (tx: SqlRunner, suffix: string, rows: readonly ExecutionRow[]): Promise<void> => {
  await tx.query(
    `INSERT INTO ${executions(suffix)} SELECT * FROM jsonb_to_recordset($1::jsonb) AS row(${COLUMNS})
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, exit_code = excluded.exit_code,
       ended_at = excluded.ended_at, host = excluded.host, epoch = excluded.epoch, handed_at = excluded.handed_at,
       cancel_requested = excluded.cancel_requested`,
    [JSON.stringify(rows)],
  );
};

/** Uses the log's time, so that a rebuild prunes the same rows. */
const prune = async (tx: SqlRunner, suffix: string, events: readonly RecordedEvent[]): Promise<void> => {
  const last = events.at(-1);
  if (last === undefined) return;
  const before = new Date(last.createdAt.getTime() - KEPT_MS).toISOString();
  await tx.query(`DELETE FROM ${executions(suffix)} WHERE ended_at < $1`, [before]);
};
