import type { ExecutionStatus } from '@berth/contracts/exec';

/** How an execution ended. */
export type EndedStatus = Exclude<ExecutionStatus, 'running'>;

/**
 * What happens to one execution. Neither the command nor its output stands in the log, only sizes in bytes of UTF-8 and a
 * digest. Times are ISO 8601.
 */
export type ExecutionEvent =
  | { readonly type: 'ExecutionSubmitted'; readonly data: Submission }
  /** Handed to another epoch of the agent: the one before refused it, and certainly did not start it. */
  | {
      readonly type: 'ExecutionRerouted';
      readonly data: Named & { readonly host: string; readonly epoch: number; readonly at: string };
    }
  /** It was certainly never started, and is as if it had not been accepted; perhaps before it ever was. */
  | {
      readonly type: 'ExecutionRefused';
      readonly data: Named & { readonly code: string; readonly at: string };
    }
  | { readonly type: 'ExecutionCancelRequested'; readonly data: Named & { readonly at: string } }
  | { readonly type: 'ExecutionEnded'; readonly data: Named & Ending };

interface Named {
  readonly executionId: string;
  readonly agentId: string;
}

export interface Submission extends Named {
  readonly accountId: string;
  readonly host: string;
  readonly epoch: number;
  readonly detached: boolean;
  readonly timeoutSeconds: number;
  readonly commandBytes: number;
  readonly commandSha256: string;
  /** The attempt at the command that was accepted; missing in older events. */
  readonly attempt?: string;
  readonly at: string;
}

export interface Ending {
  readonly status: EndedStatus;
  readonly exitCode: number;
  /** null when it is not known to have started. */
  readonly startedAt: string | null;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly at: string;
}

export interface RunningExecution {
  readonly status: 'running';
  readonly executionId: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly detached: boolean;
  readonly timeoutSeconds: number;
  readonly host: string;
  readonly epoch: number;
  readonly cancelRequested: boolean;
  /** null when the log does not say which attempt was accepted. */
  readonly attempt: string | null;
}

export type Execution =
  | { readonly status: 'absent' }
  | RunningExecution
  | { readonly status: 'refused' }
  | {
      readonly status: 'ended';
      readonly accountId: string;
      readonly agentId: string;
      readonly outcome: EndedStatus;
    };

/** Replays one event. What follows an outcome changes nothing. */
export const evolve = (execution: Execution, event: ExecutionEvent): Execution => {
  if (event.type === 'ExecutionSubmitted')
    return execution.status === 'absent' ? submitted(event.data) : execution;
  if (event.type === 'ExecutionRefused')
    return execution.status === 'ended' ? execution : { status: 'refused' };
  if (execution.status !== 'running') return execution;
  const { accountId, agentId } = execution;
  switch (event.type) {
    case 'ExecutionRerouted': {
      const { host, epoch } = event.data;
      return { ...execution, host, epoch };
    }
    case 'ExecutionCancelRequested':
      return { ...execution, cancelRequested: true };
    case 'ExecutionEnded':
      return { status: 'ended', accountId, agentId, outcome: event.data.status };
  }
};

const submitted = (data: Submission): RunningExecution => {
  const { executionId, agentId, accountId, detached, timeoutSeconds, host, epoch, attempt = null } = data;
  return {
    status: 'running',
    executionId,
    agentId,
    accountId,
    detached,
    timeoutSeconds,
    host,
    epoch,
    cancelRequested: false,
    attempt,
  };
};
