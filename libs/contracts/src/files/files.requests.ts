import { defineRequest, type CommandEnvelope } from '@berth/kernel';
import type { OpenedStage, OpenedTransfer, PutFile, StagedRef } from '../hosting/index.js';
import type { DownloadQuery, MoveBody, PathBody } from './files.schemas.js';

/** 100 MB, inclusive: one more byte is rejected. */
export const FILE_LIMIT_BYTES = 104_857_600;

export interface OpenTransfer extends CommandEnvelope {
  readonly agentId: string;
  /** The epoch of the last ticket if the host rejected it: the agent is no longer awake at that epoch. */
  readonly refusedEpoch: number | null;
}

export interface OpenList extends OpenTransfer {
  /** Absolute, or relative to the volume; null means the volume. */
  readonly path: string | null;
}

export interface OpenDownload extends OpenTransfer, DownloadQuery {}

export interface PutStaged extends CommandEnvelope {
  readonly agentId: string;
  readonly staged: StagedRef;
  /** How to store the file: as text written to a path, or as a file uploaded into a folder. */
  readonly target:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'folder'; readonly folder: string; readonly name: string };
}

/** An upload without a folder: stored in the inbox and announced to the agent. */
export interface PutAttachment extends CommandEnvelope {
  readonly agentId: string;
  readonly staged: StagedRef;
  readonly name: string;
  readonly message: string | null;
}

export interface DiscardStaged {
  readonly agentId: string;
  readonly staged: StagedRef;
}

export interface ChangePath extends CommandEnvelope, PathBody {
  readonly agentId: string;
}

export interface MovePath extends CommandEnvelope, MoveBody {
  readonly agentId: string;
}

/**
 * Requests that the `files` service handles. Every request except `discard` wakes the agent. Errors common to all:
 * not_found `agent_not_found`; conflict `agent_deploying`, `agent_stopped`, `agent_failed`; invalid `invalid_path`,
 * `path_outside_volume`; unavailable `agent_unavailable`, `transfer_lost` (the agent went away between staging and putting); full
 * `volume_full`.
 */
export const filesRequests = {
  /** Errors that the host returns when the ticket is used: invalid `not_a_directory`, not_found `path_not_found`. */
  openList: defineRequest<OpenList, OpenedTransfer>('cmd.files.open-list.v1', 75_000, { whenLost: 'repeat' }),
  /**
   * Errors that the host returns when the ticket is used: invalid `is_a_directory`, `not_a_file`; forbidden
   * `not_readable`; not_found `path_not_found`; too_large `payload_too_large`.
   */
  openDownload: defineRequest<OpenDownload, OpenedTransfer>('cmd.files.open-download.v1', 75_000, {
    whenLost: 'repeat',
  }),
  openStage: defineRequest<OpenTransfer, OpenedStage>('cmd.files.open-stage.v1', 75_000),
  /** Errors: conflict `path_exists`, invalid `volume_root`. */
  put: defineRequest<PutStaged, PutFile>('cmd.files.put.v1', 30_000),
  /** Returns once the message to the agent is accepted; the delivery then tracks its progress. */
  putAttachment: defineRequest<PutAttachment, PutFile>('cmd.files.put-attachment.v1', 30_000),
  discard: defineRequest<DiscardStaged, Record<string, never>>('cmd.files.discard.v1'),
  /** Errors: conflict `path_exists`. */
  mkdir: defineRequest<ChangePath, { readonly path: string }>('cmd.files.mkdir.v1', 75_000),
  /** Errors: conflict `destination_exists`; not_found `source_not_found`; invalid `move_into_itself`, `volume_root`. */
  move: defineRequest<MovePath, { readonly from: string; readonly to: string }>('cmd.files.move.v1', 75_000),
  /** Errors: not_found `path_not_found`; invalid `volume_root`. */
  delete: defineRequest<ChangePath, { readonly path: string }>('cmd.files.delete.v1', 75_000),
};
