import type { Decider } from '@berth/kernel';
import {
  evolve,
  type Changed,
  type FileChangeEvent,
  type FileChangeState,
  type FileOp,
} from './file-change.js';

export type FileChangeCommand =
  | {
      readonly type: 'Request';
      readonly changeId: string;
      readonly agentId: string;
      readonly accountId: string;
      readonly op: FileOp;
      readonly path: string;
      readonly to?: string;
      readonly at: string;
    }
  | { readonly type: 'Complete'; readonly changed: Changed; readonly at: string }
  | { readonly type: 'Refuse'; readonly kind: string; readonly code: string; readonly at: string };

const decide = (command: FileChangeCommand, state: FileChangeState): readonly FileChangeEvent[] => {
  if (command.type === 'Request') {
    const { type: _, ...data } = command;
    return state.status === 'absent' ? [{ type: 'FileChangeRequested', data }] : [];
  }
  // The first outcome is final.
  if (state.status !== 'requested') return [];
  const { changeId, agentId } = state;
  const { at } = command;
  if (command.type === 'Complete')
    return [{ type: 'FileChanged', data: { changeId, agentId, ...command.changed, at } }];
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
