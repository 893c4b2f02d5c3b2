import type { AgentEpoch } from './agent-epoch.js';

/** The purpose of a ticket: a transfer of bytes between the gateway and an agent that bypasses NATS. */
export type Transfer =
  /** GET: JSON `{path, root, entries}`. A null `path` is the volume. */
  | { readonly kind: 'list'; readonly path: string | null }
  /** GET or HEAD, with `Range`, `If-Range`, `If-None-Match`: a file's bytes. Rejected if larger than `limitBytes`. */
  | {
      readonly kind: 'download';
      readonly path: string;
      readonly within: 'agent' | 'volume';
      readonly limitBytes: number;
    }
  /** PUT: stages the body under `stagedId` until a `commit` or `discard`; returns `{stagedId, size}`. */
  | { readonly kind: 'stage'; readonly stagedId: string; readonly limitBytes: number }
  /** GET: NDJSON of `{stream: 'stdout' | 'stderr', text}`, terminated by `{stream: 'end'}`. */
  | { readonly kind: 'output'; readonly executionId: string }
  /**
   * GET with a WebSocket upgrade: binary frames are the terminal's bytes, text frames `{type: 'resize', cols, rows}`.
   */
  | { readonly kind: 'console'; readonly cols: number; readonly rows: number }
  /** GET with an upgrade to `APP_PROTOCOL`: a connection to the agent's program, whose bytes pass unchanged. */
  | { readonly kind: 'app' }
  /**
   * POST with the JSON of a plan, see `planActions` of `computers`: carries it out, also if the caller hangs up, and returns
   * one line of JSON, a `PlanOutcome`, which empty lines may precede. Errors: conflict `taken_over`; exhausted
   * `too_many_batches`; upstream `actions_outcome_unknown`.
   */
  | { readonly kind: 'actions' }
  /** GET: the image of a computer's screen, with its size in `berth-width`, `berth-height` and `berth-captured-at`. */
  | {
      readonly kind: 'screenshot';
      readonly format: 'png' | 'jpeg';
      readonly quality: number;
      readonly scale: number;
    }
  /**
   * GET with a WebSocket upgrade: RFB 3.8 in binary frames, security type None. In `view` the host drops keys, pointer and
   * clipboard, both ways. While a socket with `takeover` is open, actions are refused.
   */
  | {
      readonly kind: 'vnc';
      readonly sessionId: string;
      readonly mode: 'view' | 'control';
      readonly takeover: boolean;
    };

/** Name of the protocol to which a connection to an agent's program is upgraded. */
export const APP_PROTOCOL = 'berth-app';

export interface OpenTransfer extends AgentEpoch {
  readonly transfer: Transfer;
}

/**
 * How to perform a transfer: one request to `url` with `Authorization: Bearer <ticket>`, within 10 s; the ticket is
 * valid once. An error response is a 422 with `{error: {kind, code, message, context}}`: unauthenticated
 * `ticket_unknown`, conflict `stale_epoch`, unavailable `guest_unreachable`, and the guest's own errors.
 */
export interface TransferTicket {
  readonly url: string;
  /** A secret; it never leaves the gateway and the host. */
  readonly ticket: string;
}

export type StagedTarget =
  /** This exact path; an existing file is replaced atomically. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'folder'; readonly folder: string; readonly name: string }
  /** In `<volume>/inbox`, under a name that is not taken. */
  | { readonly kind: 'inbox'; readonly name: string };

/**
 * A change to an agent's volume. Errors: invalid `invalid_path`, `path_outside_volume`, `volume_root`,
 * `move_into_itself`, `not_a_directory`; not_found `path_not_found`, `source_not_found`, `staged_file_unknown`;
 * conflict `path_exists`, `destination_exists`; full `volume_full`.
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

/** Result of a change. Paths are absolute and canonical, as the agent sees them. */
export interface FileChange {
  readonly path: string;
  /** For a move: the source path. */
  readonly from?: string;
  /** Last segment of `path`. */
  readonly name: string;
  /** Size in bytes of a written file, otherwise 0. */
  readonly size: number;
}
