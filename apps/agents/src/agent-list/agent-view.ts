import type { Policy } from '@berth/contracts/schema';
import { valuesInForce } from '../policy/in-force.js';
import { AGENT_STATES, type AgentState, type AgentView } from '@berth/contracts/agents';
import type { AgentRow } from './agent-row.js';

/** When an agent was last used; times are ISO 8601. */
export interface Activity {
  readonly lastActiveAt: string;
  readonly lastActivityKind: string;
  readonly sleepAt: string | null;
}

/**
 * The API's view of an agent; `activity` is null before its first use. An agent whose identity cannot be opened is deleted
 * with its end user. `policy` is the one in force for it, and `nextWakeAt` (ISO 8601) when a schedule wakes it.
 */
export const viewOf = (
  row: AgentRow,
  activity: Activity | null,
  policy: Policy | null,
  nextWakeAt: string | null = null,
): AgentView => {
  if (!isState(row.state)) throw new Error(`A row of the agent list has the unknown state ${row.state}.`);
  const { resources, idleTtlSeconds } = valuesInForce(
    { resources: row.resources, idleTtlSeconds: row.idle_ttl_seconds, volumeGb: row.volume_gb },
    policy,
  );
  const used = activity !== null && activity.lastActiveAt > row.woken_at ? activity : null;
  return {
    id: row.id,
    name: row.name ?? '',
    templateId: row.template_id,
    externalId: row.external_id,
    externalUserId: row.external_user_id,
    instructions: row.instructions,
    labels: row.labels ?? {},
    state: row.state,
    stateReason: row.state_reason,
    stateChangedAt: row.state_changed_at,
    lastError: row.last_error,
    idleTtlSeconds,
    sleepDepth: row.sleep_depth,
    lastActiveAt: used?.lastActiveAt ?? row.woken_at,
    lastActivityKind: used?.lastActivityKind ?? 'start',
    sleepAt: row.state === 'running' ? sleepAt(row, idleTtlSeconds, used) : null,
    nextWakeAt,
    source: row.source,
    resources,
    guest: row.guest,
    appUrl: null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
};

const isState = (state: string): state is AgentState => AGENT_STATES.some((known) => known === state);

const sleepAt = (row: AgentRow, idleTtlSeconds: number, used: Activity | null): string | null => {
  if (idleTtlSeconds === 0) return null;
  // The idle time has not begun while the agent is in use.
  if (used?.sleepAt === null) return null;
  const idleSince = used?.lastActiveAt ?? row.state_changed_at;
  return new Date(Date.parse(idleSince) + idleTtlSeconds * 1000).toISOString();
};
