import type { AgentEpoch } from './agent-epoch.js';

/** What one ticket is good for: bytes between the gateway and an agent, past NATS. */
export type Transfer =
  /** GET: JSON `{path, root, entries}`. `path` null is the volume. */
  | { readonly kind: 'list'; readonly path: string | null }
  /** GET or HEAD, with `Range`, `If-Range`, `If-None-Match`: a file's bytes. Beyond `limitBytes` it is refused. */
  | {
      readonly kind: 'download';
      readonly path: string;
      readonly within: 'agent' | 'volume';
      readonly limitBytes: number;
    }
  /** PUT: the body is kept aside under that id until a `commit` or `discard`; answers `{stagedId, size}`. */
  | { readonly kind: 'stage'; readonly stagedId: string; readonly limitBytes: number }
  /** GET: NDJSON of `{stream: 'stdout' | 'stderr', text}` and at last `{stream: 'end'}`. */
  | { readonly kind: 'output'; readonly executionId: string }
  /** GET with a WebSocket upgrade: binary frames are the terminal's bytes, text frames `{type: 'resize', cols, rows}`. */
  | { readonly kind: 'console'; readonly cols: number; readonly rows: number };

export interface OpenTransfer extends AgentEpoch {
  readonly transfer: Transfer;
}

/**
 * Where and with what a transfer is done: one request to `url` with `Authorization: Bearer <ticket>`, within 10 s, once.
 * A refusal is a 422 with `{error: {kind, code, message, context}}`: unauthenticated `ticket_unknown`, conflict
 * `stale_epoch`, unavailable `guest_unreachable`, and what the agent's guest refuses.
 */
export interface TransferTicket {
  readonly url: string;
  /** A secret; never leaves gateway and host. */
  readonly ticket: string;
}

export type StagedTarget =
  /** Exactly there; a file of that name is replaced at once. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'folder'; readonly folder: string; readonly name: string }
  /** In `<volume>/inbox` under a name that clashes with none. */
  | { readonly kind: 'inbox'; readonly name: string };

/**
 * A change of an agent's volume. Errors: invalid `invalid_path`, `path_outside_volume`, `volume_root`,
 * `move_into_itself`, `not_a_directory`; not_found `path_not_found`, `source_not_found`, `staged_file_unknown`; conflict
 * `path_exists`, `destination_exists`; unavailable `volume_full`.
 */
export type FileCommand =
  | { readonly op: 'commit'; readonly stagedId: string; readonly target: StagedTarget }
  | { readonly op: 'discard'; readonly stagedId: string }
  | { readonly op: 'mkdir'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly to: string }
  | { readonly op: 'delete'; readonly path: string };

export interface ChangeFile extends AgentEpoch {
  readonly command: FileCommand;
}

/** What was done. Paths are absolute and canonical, as the agent sees them. */
export interface FileChange {
  readonly path: string;
  /** Of a move. */
  readonly from?: string;
  /** Last part of `path`. */
  readonly name: string;
  /** Bytes of a written file, else 0. */
  readonly size: number;
}
