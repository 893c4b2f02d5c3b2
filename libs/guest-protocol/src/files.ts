/** 100 MB (contract §1): exactly so many bytes pass. */
export const TRANSFER_LIMIT_BYTES = 104_857_600;
/** A name of more bytes is no name (contract §5). */
export const NAME_LIMIT_BYTES = 255;

/** Where something staged is put. Paths are absolute under the volume or relative to it; missing parents are made. */
export type StagedTarget =
  /** Exactly there; a file of that name is replaced at once, a folder is 409 `path_exists`. */
  | { readonly kind: 'path'; readonly path: string }
  /** In that folder under that name. */
  | { readonly kind: 'folder'; readonly folder: string; readonly name: string }
  /** In `<volume>/inbox` under a name that clashes with none. */
  | { readonly kind: 'inbox'; readonly name: string };

/**
 * A change of the volume. Errors: invalid `invalid_path`, `path_outside_volume`, `volume_root`, `move_into_itself`,
 * `not_a_directory`; not_found `path_not_found`, `source_not_found`, `staged_file_unknown`; conflict `path_exists`,
 * `destination_exists`; unavailable `volume_full`.
 */
export type FileCommand =
  | { readonly op: 'commit'; readonly stagedId: string; readonly target: StagedTarget }
  | { readonly op: 'discard'; readonly stagedId: string }
  | { readonly op: 'mkdir'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly to: string }
  | { readonly op: 'delete'; readonly path: string };

/** What was done. Paths are absolute and canonical, as the agent sees them. */
export interface FileChange {
  /** What was written, made, deleted, or where it was moved to; for `discard` empty. */
  readonly path: string;
  /** Where it was moved from. */
  readonly from?: string;
  /** Last part of `path`. */
  readonly name: string;
  /** Bytes of a written file, else 0. */
  readonly size: number;
}

/** One entry of a list (interface §2). */
export interface FileEntry {
  readonly name: string;
  readonly isDir: boolean;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Whole seconds since the Unix epoch. */
  readonly mtime: number;
}

/** Answer of `listFiles`, written as a stream; `entries` sorted by name. */
export interface FileList {
  readonly path: string;
  readonly root: string;
  readonly entries: readonly FileEntry[];
}

/** Answer of `stageFile`. */
export interface StagedFile {
  readonly stagedId: string;
  readonly size: number;
}
