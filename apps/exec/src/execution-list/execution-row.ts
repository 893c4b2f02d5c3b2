import type { ExecutionStatus } from '@berth/contracts/hosting';
import type { ExecutionEvent } from '../execution/execution.js';

/** A row of the execution list. Times are ISO 8601. */
export interface ExecutionRow {
  readonly id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly status: ExecutionStatus | 'refused';
  readonly exit_code: number | null;
  readonly detached: boolean;
  readonly timeout_seconds: number;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly host: string;
  readonly epoch: number;
  readonly handed_at: string;
  readonly cancel_requested: boolean;
}

/** Applies one event to a row; undefined if there is no row to change. */
export const rowAfter = (row: ExecutionRow | undefined, event: ExecutionEvent): ExecutionRow | undefined => {
  if (event.type === 'ExecutionSubmitted') return row ?? firstRow(event.data);
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'ExecutionRerouted': {
      const { host, epoch, at } = event.data;
      return { ...row, host, epoch, handed_at: at };
    }
    case 'ExecutionCancelRequested':
      return { ...row, cancel_requested: true };
    case 'ExecutionRefused':
      return { ...row, status: 'refused', ended_at: event.data.at };
    case 'ExecutionEnded': {
      const { status, exitCode, at } = event.data;
      return { ...row, status, exit_code: exitCode, ended_at: at };
    }
  }
};

const firstRow = (data: Extract<ExecutionEvent, { type: 'ExecutionSubmitted' }>['data']): ExecutionRow => ({
  id: data.executionId,
  account_id: data.accountId,
  agent_id: data.agentId,
  status: 'running',
  exit_code: null,
  detached: data.detached,
  timeout_seconds: data.timeoutSeconds,
  created_at: data.at,
  ended_at: null,
  host: data.host,
  epoch: data.epoch,
  handed_at: data.at,
  cancel_requested: false,
});
