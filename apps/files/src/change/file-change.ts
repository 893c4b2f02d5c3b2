import type { Personal } from '@berth/personal-data';

/** The requested operation: write text, upload a file into a folder or as an attachment, or change a path. */
export type FileOp = 'write' | 'upload' | 'attach' | 'mkdir' | 'move' | 'delete';

/** The paths of a requested change, which are personal. */
export type RequestedPaths = {
  /** The path as the caller sent it; the file's name for an attachment. */
  readonly path: string;
  /** For a move: the destination. */
  readonly to?: string;
};

/** The paths of a change that was made, which are personal. */
export type ChangedPaths = {
  /** The resulting path: absolute, as the agent sees it. */
  readonly path: string;
  /** For a move: the source path, which no longer exists. */
  readonly from?: string;
  readonly name: string;
};

/**
 * One change of an agent's volume, for the audit. The events' metadata names the actor. Events contain paths, never
 * contents. A change without an outcome may or may not have been made.
 */
export type FileChangeEvent =
  | {
      readonly type: 'FileChangeRequested.v2';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        readonly accountId: string;
        readonly op: FileOp;
        readonly personal: Personal<RequestedPaths>;
        /** ISO 8601. */
        readonly at: string;
      };
    }
  | {
      readonly type: 'FileChanged.v2';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        readonly personal: Personal<ChangedPaths>;
        /** Size in bytes of a written file, otherwise 0. */
        readonly size: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'FileChangeRefused';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        /** Kind and code of the error. */
        readonly kind: string;
        readonly code: string;
        readonly at: string;
      };
    };

/** The result that the caller received. */
export interface Changed extends ChangedPaths {
  readonly size: number;
}

/** The result as events hold it. */
export interface RecordedResult {
  readonly personal: Personal<ChangedPaths>;
  readonly size: number;
}

export type FileChangeState =
  | { readonly status: 'absent' }
  | { readonly status: 'requested'; readonly changeId: string; readonly agentId: string }
  | { readonly status: 'changed'; readonly result: RecordedResult }
  | { readonly status: 'refused'; readonly kind: string; readonly code: string };

export const evolve = (state: FileChangeState, event: FileChangeEvent): FileChangeState => {
  switch (event.type) {
    case 'FileChangeRequested.v2': {
      const { changeId, agentId } = event.data;
      return { status: 'requested', changeId, agentId };
    }
    case 'FileChanged.v2': {
      if (state.status !== 'requested') return state;
      const { personal, size } = event.data;
      return { status: 'changed', result: { personal, size } };
    }
    case 'FileChangeRefused': {
      if (state.status !== 'requested') return state;
      return { status: 'refused', kind: event.data.kind, code: event.data.code };
    }
  }
};
