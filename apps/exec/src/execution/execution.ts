import type { ExecutionStatus } from '@berth/contracts/hosting';

export type EndedStatus = Exclude<ExecutionStatus, 'running'>;

/**
 * Events of an execution. They contain neither the command nor its output, only sizes in bytes of UTF-8 and a digest.
 * Times are ISO 8601.
 */
export type ExecutionEvent =
  | { readonly type: 'ExecutionSubmitted'; readonly data: Submission }
  /** Dispatched to another epoch of the agent; the previous one rejected it and certainly did not start it. */
  | {
      readonly type: 'ExecutionRerouted';
      readonly data: Named & { readonly host: string; readonly epoch: number; readonly at: string };
    }
  /** It certainly never started and counts as never accepted. May be the first event of its stream. */
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
  /** Which attempt at the command was accepted; missing in older events. */
  readonly attempt?: string;
  readonly at: string;
}

export interface Ending {
  readonly status: EndedStatus;
  readonly exitCode: number;
  /** null if it is not known to have started. */
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
  /** Which attempt was accepted; null if the event does not name it. */
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

/** Applies one event. Events after an outcome change nothing. */
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
