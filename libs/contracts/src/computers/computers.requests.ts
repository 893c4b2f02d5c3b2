import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type {
  AnnounceHost,
  AwakeAgent,
  ExecutionView,
  HostOrders,
  OpenedStage,
  OpenedTransfer,
  PutFile,
  ReportActivity,
  ReportObservation,
  SetEndUserStanding,
  StagedRef,
} from '../hosting/index.js';
import type { NullWhenAbsent } from '../schema/index.js';
import type { ComputerView, ViewerMode, ViewerSessionView } from './computer.view.js';
import type { ListComputersQuery, ScreenshotQuery } from './computers.schemas.js';

/** Members that are null take `COMPUTER_DEFAULTS`. */
export interface CreateComputer extends CommandEnvelope {
  readonly externalUserId: string | null;
  readonly name: string | null;
  readonly display: { readonly width: number; readonly height: number };
  readonly idleTtlSeconds: number;
}

/** `created` is false when the end user had its computer before. */
export interface CreatedComputer {
  readonly computer: ComputerView;
  readonly created: boolean;
}

export interface ComputerRef extends CommandEnvelope {
  readonly computerId: string;
}

export interface GetComputer {
  readonly accountId: string;
  readonly computerId: string;
}

export interface ListComputers extends NullWhenAbsent<ListComputersQuery> {
  readonly accountId: string;
  /** Without those of other end users, see `ListAgents.endUserId`. */
  readonly endUserId?: string | null;
}

/** `settled` is false when the transition continues after the response (202). */
export interface ComputerTransition {
  readonly computer: ComputerView;
  readonly settled: boolean;
}

/** What opens a transfer between the gateway and the host of a computer, which it wakes. */
export interface OpenComputerTransfer extends ComputerRef {
  /** The epoch of the last ticket if the host rejected it: the computer is no longer awake at that epoch. */
  readonly refusedEpoch: number | null;
}

/** A batch of actions that is valid. The host gets the plan itself with the transfer. */
export interface OpenActions extends OpenComputerTransfer {
  /** How many actions it has, those inside items counted one by one. */
  readonly actions: number;
}

/** What came of a batch, for the usage. Sent once; a repetition with the same command id counts once. */
export interface ReportActions extends ComputerRef {
  readonly results: number;
  readonly images: number;
}

export interface OpenScreenshot extends OpenComputerTransfer, ScreenshotQuery {}

export interface ComputerExec extends ComputerRef {
  /** A shell command; the gateway has already quoted a list of arguments. */
  readonly command: string;
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string };
  /** null means 60. */
  readonly timeoutSeconds: number | null;
}

export interface OpenComputerList extends OpenComputerTransfer {
  /** Absolute, or relative to the home folder; null means the home folder. */
  readonly path: string | null;
}

export interface OpenComputerDownload extends OpenComputerTransfer {
  readonly path: string;
}

/** The path is checked before anything is received. */
export interface OpenComputerStage extends OpenComputerTransfer {
  readonly path: string;
}

export interface PutComputerFile extends ComputerRef {
  readonly staged: StagedRef;
  readonly path: string;
}

export interface OpenViewer extends ComputerRef {
  readonly mode: ViewerMode;
  readonly ttlSeconds: number;
  readonly takeover: boolean;
  /** SHA-256 of the secret in the session's URL, hex. The secret itself never travels. */
  readonly secretHash: string;
}

/** A session that lives, for whoever has its secret. */
export interface FoundViewer {
  readonly accountId: string;
  readonly computerId: string;
  readonly session: ViewerSessionView;
  /** The key that made it. */
  readonly keyId: string;
}

/** Uses the session up and wakes its computer. */
export interface ConnectViewer extends OpenComputerTransfer {
  readonly sessionId: string;
}

export interface CloseSessions extends ComputerRef {
  /** null: all. */
  readonly sessionId: string | null;
}

/**
 * The requests that `computers` handles. Errors common to those about one computer: not_found `computer_not_found`; of
 * those that use it: payment_required `addon_required`, forbidden `end_user_suspended`, conflict `computer_starting`
 * (60 s did not suffice), `computer_failed`; unavailable `computer_unavailable`.
 */
export const computersRequests = {
  /** Errors: unsupported `computers_unsupported`; payment_required `addon_required`; unavailable `no_capacity`. */
  create: defineRequest<CreateComputer, CreatedComputer>('cmd.computers.create.v1', 60_000, {
    whenLost: 'repeat',
  }),
  get: defineRequest<GetComputer, ComputerView>('qry.computers.get.v1'),
  list: defineRequest<ListComputers, Page<ComputerView>>('qry.computers.list.v1'),
  delete: defineRequest<ComputerRef, Record<string, never>>('cmd.computers.delete.v1', 60_000, {
    whenLost: 'repeat',
  }),
  wake: defineRequest<ComputerRef, ComputerTransition>('cmd.computers.wake.v1', 65_000, {
    whenLost: 'repeat',
  }),
  sleep: defineRequest<ComputerRef, ComputerTransition>('cmd.computers.sleep.v1', 65_000, {
    whenLost: 'repeat',
  }),
  /** Errors that the host returns when the ticket is used: conflict `taken_over`; exhausted `too_many_batches`. */
  openActions: defineRequest<OpenActions, OpenedTransfer>('cmd.computers.open-actions.v1', 75_000, {
    whenLost: 'repeat',
  }),
  reportActions: defineRequest<ReportActions, Record<string, never>>(
    'cmd.computers.report-actions.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  openScreenshot: defineRequest<OpenScreenshot, OpenedTransfer>('cmd.computers.open-screenshot.v1', 75_000, {
    whenLost: 'repeat',
  }),
  /** Returns at the end, so callers set their own deadline. Errors: those of `execRequests.submit`, attached. */
  exec: defineRequest<ComputerExec, ExecutionView>('cmd.computers.exec.v1', 90_000, { whenLost: 'report' }),
  /** Errors, also those of the host: as `filesRequests.openList`. */
  openList: defineRequest<OpenComputerList, OpenedTransfer>('cmd.computers.open-list.v1', 75_000, {
    whenLost: 'repeat',
  }),
  /** Errors, also those of the host: as `filesRequests.openDownload`. */
  openDownload: defineRequest<OpenComputerDownload, OpenedTransfer>(
    'cmd.computers.open-download.v1',
    75_000,
    {
      whenLost: 'repeat',
    },
  ),
  openStage: defineRequest<OpenComputerStage, OpenedStage>('cmd.computers.open-stage.v1', 75_000),
  /** Errors: as `filesRequests.put`. */
  put: defineRequest<PutComputerFile, PutFile>('cmd.computers.put.v1', 30_000),
  /** Wakes the computer. A repeated command returns the same session. */
  openViewer: defineRequest<OpenViewer, ViewerSessionView>('cmd.computers.open-viewer.v1', 75_000, {
    whenLost: 'repeat',
  }),
  /** Errors: not_found `session_not_found`, also once it is over. */
  findViewer: defineRequest<{ readonly secretHash: string }, FoundViewer>('qry.computers.find-viewer.v1'),
  /** Returns the ticket of the `vnc` transfer. Errors: forbidden `session_used`; not_found `session_not_found`. */
  connectViewer: defineRequest<ConnectViewer, OpenedTransfer>('cmd.computers.connect-viewer.v1', 75_000, {
    whenLost: 'repeat',
  }),
  /** The socket of the session has closed. A session that is over already stays so. */
  endViewer: defineRequest<ComputerRef & { readonly sessionId: string }, Record<string, never>>(
    'cmd.computers.end-viewer.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /** Those that live, the oldest first. */
  listSessions: defineRequest<GetComputer, { readonly items: readonly ViewerSessionView[] }>(
    'qry.computers.list-sessions.v1',
  ),
  closeSessions: defineRequest<CloseSessions, { readonly closed: number }>(
    'cmd.computers.close-sessions.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /** See `agentsRequests.setEndUserStanding`. */
  setEndUserStanding: defineRequest<SetEndUserStanding, Record<string, never>>(
    'cmd.computers.set-end-user-standing.v1',
    4_000,
    { whenLost: 'repeat' },
  ),
  /** Deletes the computers of an end user, and the copy of its key. */
  forgetEndUser: defineRequest<CommandEnvelope & { readonly endUserId: string }, Record<string, never>>(
    'cmd.computers.forget-end-user.v1',
    60_000,
    { whenLost: 'repeat' },
  ),
  /** The computer where it is awake, which `AgentClient` asks for a `cmp_…`: as `agentsRequests.ensureAwake`. */
  ensureAwake: defineRequest<ComputerRef & { readonly refusedEpoch: number | null }, AwakeAgent>(
    'cmd.computers.ensure-awake.v1',
    75_000,
    { whenLost: 'repeat', onlyWhileAwaited: true },
  ),
  /** Like those of agents, about the boxes of computers. `agentId` is the computer's id. */
  announceHost: defineRequest<AnnounceHost, HostOrders>('cmd.computers.announce-host.v1.{from}', 30_000),
  reportObservation: defineRequest<ReportObservation, Record<string, never>>(
    'cmd.computers.report-observation.v1.{from}',
  ),
  reportActivity: defineRequest<ReportActivity, Record<string, never>>(
    'cmd.computers.report-activity.v1.{from}',
  ),
};
