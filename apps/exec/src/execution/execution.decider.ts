import type { Decider } from '@berth/kernel';
import {
  evolve,
  type Ending,
  type Execution,
  type ExecutionEvent,
  type RunningExecution,
  type Submission,
} from './execution.js';

export type ExecutionCommand =
  | ({ readonly type: 'Submit' } & Submission)
  | { readonly type: 'Reroute'; readonly host: string; readonly epoch: number; readonly at: string }
  | { readonly type: 'Refuse'; readonly code: string; readonly at: string }
  /** Like `Refuse`, but only if the execution was submitted by this attempt of its command. */
  | { readonly type: 'Withdraw'; readonly attempt: string; readonly code: string; readonly at: string }
  /** Refuses an execution before it is submitted, so that a later `Submit` has no effect. */
  | {
      readonly type: 'Preclude';
      readonly executionId: string;
      readonly agentId: string;
      readonly code: string;
      readonly at: string;
    }
  | { readonly type: 'RequestCancel'; readonly at: string }
  | ({ readonly type: 'End' } & Ending);

const decide = (command: ExecutionCommand, execution: Execution): readonly ExecutionEvent[] => {
  if (command.type === 'Submit') {
    const { type: _, ...data } = command;
    return execution.status === 'absent' ? [{ type: 'ExecutionSubmitted', data }] : [];
  }
  if (command.type === 'Preclude') {
    const { type: _, ...data } = command;
    return execution.status === 'absent' ? [{ type: 'ExecutionRefused', data }] : [];
  }
  // The first outcome is final.
  return execution.status === 'running' ? decideRunning(command, execution) : [];
};

const decideRunning = (
  command: Exclude<ExecutionCommand, { type: 'Submit' | 'Preclude' }>,
  { executionId, agentId, host, epoch, cancelRequested, attempt }: RunningExecution,
): readonly ExecutionEvent[] => {
  const ids = { executionId, agentId };
  switch (command.type) {
    case 'Reroute':
      // An execution that is to be cancelled must not be dispatched again.
      if (cancelRequested || (command.host === host && command.epoch === epoch)) return [];
      return [
        {
          type: 'ExecutionRerouted',
          data: { ...ids, host: command.host, epoch: command.epoch, at: command.at },
        },
      ];
    case 'Withdraw':
      if (command.attempt !== attempt) return [];
      return [{ type: 'ExecutionRefused', data: { ...ids, code: command.code, at: command.at } }];
    case 'Refuse':
      return [{ type: 'ExecutionRefused', data: { ...ids, code: command.code, at: command.at } }];
    case 'RequestCancel':
      return cancelRequested ? [] : [{ type: 'ExecutionCancelRequested', data: { ...ids, at: command.at } }];
    case 'End': {
      const { type: _, ...ending } = command;
      return [{ type: 'ExecutionEnded', data: { ...ids, ...ending } }];
    }
  }
};

/** An execution is submitted once, and ended or refused once. */
export const executionDecider: Decider<Execution, ExecutionCommand, ExecutionEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};
