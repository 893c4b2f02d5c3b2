import type { Decider } from '@berth/kernel';
import type { Personal } from '@berth/personal-data';
import {
  evolve,
  type FileChangeEvent,
  type FileChangeState,
  type FileOp,
  type RecordedResult,
  type RequestedPaths,
} from './file-change.js';

export type FileChangeCommand =
  | {
      readonly type: 'Request';
      readonly changeId: string;
      readonly agentId: string;
      readonly accountId: string;
      readonly op: FileOp;
      readonly personal: Personal<RequestedPaths>;
      readonly at: string;
    }
  | { readonly type: 'Complete'; readonly result: RecordedResult; readonly at: string }
  | { readonly type: 'Refuse'; readonly kind: string; readonly code: string; readonly at: string };

const decide = (command: FileChangeCommand, state: FileChangeState): readonly FileChangeEvent[] => {
  if (command.type === 'Request') {
    const { type: _, ...data } = command;
    return state.status === 'absent' ? [{ type: 'FileChangeRequested.v2', data }] : [];
  }
  // The first outcome is final.
  if (state.status !== 'requested') return [];
  const { changeId, agentId } = state;
  const { at } = command;
  if (command.type === 'Complete')
    return [{ type: 'FileChanged.v2', data: { changeId, agentId, ...command.result, at } }];
  const { kind, code } = command;
  return [{ type: 'FileChangeRefused', data: { changeId, agentId, kind, code, at } }];
};

/**
 * One change of a volume: requested before anything is done, then ended at most once. Without an end its outcome is
 * unknown.
 */
export const fileChangeDecider: Decider<FileChangeState, FileChangeCommand, FileChangeEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};
