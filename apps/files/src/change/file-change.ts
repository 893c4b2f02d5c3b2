/** What was asked for: text written, a file uploaded into a folder or as an attachment, or a path changed. */
export type FileOp = 'write' | 'upload' | 'attach' | 'mkdir' | 'move' | 'delete';

/**
 * One change of an agent's volume, for the audit: who asked for it stands in the events' metadata. Paths, never contents.
 * A change without an outcome may have been done or not.
 */
export type FileChangeEvent =
  | {
      readonly type: 'FileChangeRequested';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        readonly accountId: string;
        readonly op: FileOp;
        /** As the caller said it; of an attachment its name. */
        readonly path: string;
        /** Of a move. */
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
        /** As it became: absolute, as the agent sees it. */
        readonly path: string;
        /** Of a move: what is there no more. */
        readonly from?: string;
        readonly name: string;
        /** Bytes of a written file, else 0. */
        readonly size: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'FileChangeRefused';
      readonly data: {
        readonly changeId: string;
        readonly agentId: string;
        /** Kind and code of the refusal. */
        readonly kind: string;
        readonly code: string;
        readonly at: string;
      };
    };

/** What became of it, as its caller was told. */
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
