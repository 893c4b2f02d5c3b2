import type { ComputerView } from '@berth/contracts/computers';
import type { ComputerEvent, ComputerIdentity } from '../computer/computer.js';

/** One row of the list, columns as in the table. Times are ISO 8601. */
export interface ComputerRow {
  readonly id: string;
  readonly account_id: string;
  readonly end_user_id: string | null;
  /** This and the next are null if they are sealed and were not opened, for example because the key is destroyed. */
  readonly name: string | null;
  readonly external_user_id: string | null;
  readonly display: ComputerView['display'];
  readonly resources: ComputerView['resources'];
  readonly idle_ttl_seconds: number;
  readonly state: 'starting' | 'running' | 'stopping' | 'sleeping' | 'failed' | 'deleting';
  readonly state_reason: string | null;
  readonly state_changed_at: string;
  readonly sleep_depth: 'warm' | 'cold' | null;
  readonly epoch: number;
  readonly host: string;
  /** Deadline of a transient state; null in any other. */
  readonly deadline_at: string | null;
  /** When it was last created or woken, which counts as activity. */
  readonly woken_at: string;
  readonly created_at: string;
}

type Creation = Extract<ComputerEvent, { type: 'ComputerCreated' }>['data'];

/** Returns the identity of a new computer; null if it is sealed and cannot be opened. */
export type OpenIdentity = (creation: Creation) => ComputerIdentity | null;

const unlessSealed: OpenIdentity = ({ personal }) => (personal.endUserId === null ? personal.data : null);

/** Applies an event to the row; null removes the row. Pure. */
export const evolveRow = (
  row: ComputerRow | null,
  event: ComputerEvent,
  open: OpenIdentity = unlessSealed,
): ComputerRow | null => {
  if (event.type === 'ComputerCreated') return newRow(event.data, open(event.data));
  if (row === null || event.type === 'ComputerDeleted') return null;
  // The event that follows sets the new state.
  if (
    event.type === 'ComputerSleepRequested' ||
    event.type === 'ComputerUnseen' ||
    event.type === 'ComputerRanUnseen'
  )
    return row;
  return { ...row, state_changed_at: event.data.at, ...stateAfter(event) };
};

type StateColumns = Pick<ComputerRow, 'state' | 'state_reason' | 'sleep_depth' | 'deadline_at'>;

const columns = (state: ComputerRow['state'], more: Partial<StateColumns> = {}): StateColumns => ({
  ...{ state, state_reason: null, sleep_depth: null, deadline_at: null },
  ...more,
});

type StateEvent = Exclude<
  ComputerEvent,
  {
    readonly type:
      | 'ComputerCreated'
      | 'ComputerDeleted'
      | 'ComputerSleepRequested'
      | 'ComputerUnseen'
      | 'ComputerRanUnseen';
  }
>;

const stateAfter = (event: StateEvent): Partial<ComputerRow> => {
  switch (event.type) {
    case 'ComputerStarting': {
      const { epoch, host, deadline, at } = event.data;
      return { ...columns('starting', { deadline_at: deadline }), epoch, host, woken_at: at };
    }
    case 'ComputerStarted':
      return columns('running');
    case 'ComputerStopping': {
      const { epoch, deadline, reason } = event.data;
      return { ...columns('stopping', { deadline_at: deadline, state_reason: reason }), epoch };
    }
    case 'ComputerFellAsleep':
      return columns('sleeping', { state_reason: event.data.reason, sleep_depth: event.data.depth });
    case 'ComputerFailed':
      return columns('failed', { state_reason: event.data.code });
    case 'ComputerDeletionRequested':
      // The identity must go now: the deletion waits for the host, which may never return.
      return { ...columns('deleting'), ...identityColumns(null) };
  }
};

/** The columns that hold the identity; null if it is unknown. */
export const identityColumns = (
  identity: ComputerIdentity | null,
): Pick<ComputerRow, 'name' | 'external_user_id'> => ({
  name: identity?.name ?? null,
  external_user_id: identity?.externalUserId ?? null,
});

const newRow = (
  { computerId, at, ...profile }: Creation,
  identity: ComputerIdentity | null,
): ComputerRow => ({
  id: computerId,
  account_id: profile.accountId,
  end_user_id: profile.personal.endUserId,
  ...identityColumns(identity),
  display: profile.display,
  resources: profile.resources,
  idle_ttl_seconds: profile.idleTtlSeconds,
  ...columns('starting'),
  state_changed_at: at,
  epoch: 0,
  host: '',
  woken_at: at,
  created_at: at,
});
