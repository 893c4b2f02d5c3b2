/** The requested operation: write text, upload a file into a folder or as an attachment, or change a path. */
export type FileOp = 'write' | 'upload' | 'attach' | 'mkdir' | 'move' | 'delete';

/**
 * One change of an agent's volume, for the audit. The events' metadata names the actor. Events contain paths, never
 * contents. A change without an outcome may or may not have been made.
 */
export type FileChangeEvent =
  | {
      readonly type: 'FileChangeRequested';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        readonly accountId: string;
        readonly op: FileOp;
        /** As the caller sent it; for an attachment its name. */
        readonly path: string;
        /** For a move: the destination. */
        readonly to?: string;
        /** ISO 8601. */
        readonly at: string;
      };
    }
  | {
      readonly type: 'FileChanged';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        /** The resulting path: absolute, as the agent sees it. */
        readonly path: string;
        /** For a move: the source path, which no longer exists. */
        readonly from?: string;
        readonly name: string;
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
export interface Changed {
  readonly path: string;
  readonly from?: string;
  readonly name: string;
  readonly size: number;
}

export type FileChangeState =
  | { readonly status: 'absent' }
  | { readonly status: 'requested'; readonly changeId: string; readonly agentId: string }
  | { readonly status: 'changed'; readonly changed: Changed }
  | { readonly status: 'refused'; readonly kind: string; readonly code: string };

export const evolve = (state: FileChangeState, event: FileChangeEvent): FileChangeState => {
  switch (event.type) {
    case 'FileChangeRequested': {
      const { changeId, agentId } = event.data;
      return { status: 'requested', changeId, agentId };
    }
    case 'FileChanged': {
      if (state.status !== 'requested') return state;
      const { path, from, name, size } = event.data;
      return { status: 'changed', changed: { path, ...(from === undefined ? {} : { from }), name, size } };
    }
    case 'FileChangeRefused': {
      if (state.status !== 'requested') return state;
      return { status: 'refused', kind: event.data.kind, code: event.data.code };
    }
  }
};
