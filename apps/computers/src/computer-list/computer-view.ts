import type { ComputerStatus, ComputerView } from '@berth/contracts/computers';
import type { ComputerRow } from './computer-row.js';

/** When a computer was last used; times are ISO 8601. */
export interface Activity {
  readonly lastActiveAt: string;
  /** Null while it is in use. */
  readonly sleepAt: string | null;
}

/** The API's view of a computer; `activity` is null before its first use. */
export const viewOf = (row: ComputerRow, activity: Activity | null): ComputerView => {
  const used = activity !== null && activity.lastActiveAt > row.woken_at ? activity : null;
  return {
    id: row.id,
    externalUserId: row.external_user_id,
    name: row.name,
    status: STATUS[row.state],
    display: row.display,
    resources: row.resources,
    idleTtlSeconds: row.idle_ttl_seconds,
    createdAt: row.created_at,
    lastActiveAt: used?.lastActiveAt ?? row.woken_at,
    sleepAt: row.state === 'running' ? sleepAt(row, used) : null,
  };
};

/** The states that the API shows as this status. */
export const statesOf = (status: ComputerStatus): readonly ComputerRow['state'][] =>
  STATES.filter((state) => STATUS[state] === status);

/** It runs until it has stopped. */
const STATUS: Readonly<Record<ComputerRow['state'], ComputerStatus>> = {
  starting: 'starting',
  running: 'running',
  stopping: 'running',
  sleeping: 'sleeping',
  failed: 'failed',
  deleting: 'deleting',
};
const STATES = Object.keys(STATUS) as readonly ComputerRow['state'][];

const sleepAt = (row: ComputerRow, used: Activity | null): string | null => {
  if (row.idle_ttl_seconds === 0) return null;
  if (used?.sleepAt === null) return null;
  const idleSince = used?.lastActiveAt ?? row.state_changed_at;
  return new Date(Date.parse(idleSince) + row.idle_ttl_seconds * 1_000).toISOString();
};
