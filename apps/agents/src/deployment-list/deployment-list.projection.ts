import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { agentCodec } from '../agent/agent.events.js';
import { deploymentCodec } from '../deployment/deployment.events.js';
import { evolveRow, type DeploymentRow } from './deployment-row.js';

const table = (suffix: string): string => `deployment_list_${suffix}`;

/** The table of every read of deployments: one row for each, until its agent is deleted. */
export const deploymentListProjection: Projection = {
  name: 'deployment-list',
  version: 1,
  categories: [deploymentCodec.category, agentCodec.category],

  async createTables(tx, suffix) {
    const name = table(suffix);
    await tx.query(`CREATE TABLE ${name} (
      id text PRIMARY KEY,
      agent_id text NOT NULL,
      account_id text NOT NULL,
      source jsonb NOT NULL,
      status text NOT NULL,
      error jsonb,
      commit text,
      created_at timestamptz(3) NOT NULL,
      finished_at timestamptz(3))`);
    await tx.query(`CREATE INDEX ON ${name} (agent_id, id DESC)`);
    // For the work on deployments, which reads only these few.
    await tx.query(`CREATE INDEX ON ${name} (agent_id) WHERE finished_at IS NULL`);
  },

  ...tablesBehindViews('deployment_list'),

  async apply(tx, suffix, events) {
    const deleted = events.filter(({ type }) => type === 'AgentDeleted').map(agentIdOf);
    const byDeployment = Map.groupBy(
      events.filter(({ stream }) => stream.startsWith(`${deploymentCodec.category}-`)),
      ({ stream }) => stream.slice(deploymentCodec.category.length + 1),
    );
    await applyTo(tx, table(suffix), byDeployment);
    if (deleted.length > 0)
      await tx.query(`DELETE FROM ${table(suffix)} WHERE agent_id = ANY($1)`, [deleted]);
  },
};

const agentIdOf = ({ stream }: RecordedEvent): string => stream.slice(agentCodec.category.length + 1);

const applyTo = async (
  tx: SqlRunner,
  name: string,
  byDeployment: ReadonlyMap<string, readonly RecordedEvent[]>,
): Promise<void> => {
  const ids = [...byDeployment.keys()];
  if (ids.length === 0) return;
  const found = await tx.query<DeploymentRow>(`SELECT * FROM ${name} WHERE id = ANY($1)`, [ids]);
  const existing = new Map(found.map((row) => [row.id, row]));
  const rows = ids.flatMap(
    (id) =>
      (byDeployment.get(id) ?? []).reduce<DeploymentRow | null>(
        (row, event) => evolveRow(row, deploymentCodec.fromStored(event)),
        existing.get(id) ?? null,
      ) ?? [],
  );
  await tx.query(
    `INSERT INTO ${name} SELECT * FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)
     ON CONFLICT (id) DO UPDATE SET source = excluded.source, status = excluded.status, error = excluded.error,
       commit = excluded.commit, finished_at = excluded.finished_at`,
    [JSON.stringify(rows)],
  );
};
