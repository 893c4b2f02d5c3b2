/** 100 MB, inclusive. */
export const TRANSFER_LIMIT_BYTES = 104_857_600;
/** Maximum length of a file name in bytes. */
export const NAME_LIMIT_BYTES = 255;

/**
 * Destination of a staged file. Paths are absolute under the volume or relative to it; missing parent folders are
 * created.
 */
export type StagedTarget =
  /** This exact path. An existing file is replaced atomically; an existing folder is 409 `path_exists`. */
  | { readonly kind: 'path'; readonly path: string }
  /** In `folder`, as `name`. */
  | { readonly kind: 'folder'; readonly folder: string; readonly name: string }
  /** In `<volume>/inbox`, under a name that is not taken. */
  | { readonly kind: 'inbox'; readonly name: string };

/**
 * A change to the volume. Errors: invalid `invalid_path`, `path_outside_volume`, `volume_root`, `move_into_itself`,
 * `not_a_directory`; not_found `path_not_found`, `source_not_found`, `staged_file_unknown`; conflict `path_exists`,
 * `destination_exists`; full `volume_full`.
 */
export type FileCommand =
  | { readonly op: 'commit'; readonly stagedId: string; readonly target: StagedTarget }
  | { readonly op: 'discard'; readonly stagedId: string }
  | { readonly op: 'mkdir'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly to: string }
  | { readonly op: 'delete'; readonly path: string };

/** Result of a change. Paths are absolute and canonical, as the agent sees them. */
export interface FileChange {
  /** The path that was written, created, deleted or moved to; empty for `discard`. */
  readonly path: string;
  /** For a move: the source path. */
  readonly from?: string;
  /** Last segment of `path`. */
  readonly name: string;
  /** Size in bytes of a written file, otherwise 0. */
  readonly size: number;
}

/** One entry of a folder list. */
export interface FileEntry {
  readonly name: string;
  readonly isDir: boolean;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Whole seconds since the Unix epoch. */
  readonly mtime: number;
}

/** Response of `listFiles`, sent as a stream; `entries` are sorted by name. */
export interface FileList {
  readonly path: string;
  readonly root: string;
  readonly entries: readonly FileEntry[];
}

/** Response of `stageFile`. */
export interface StagedFile {
  readonly stagedId: string;
  readonly size: number;
}
