import type { ComputerRef, ConnectViewer, OpenViewer, ViewerSessionView } from '@berth/contracts/computers';
import type { OpenedTransfer } from '@berth/contracts/files';
import { Clock, deriveId, isId, isoTime } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { EnsureAwakeHandler } from '../computer/ensure-awake.js';
import { AwakeComputers } from '../use/awake-computers.js';
import { requireUnused, sessionNotFound, type OpenedSession, type ViewerSession } from './viewer-session.js';
import { ViewerSessionLog } from './viewer-session-log.js';

/** Opens viewer sessions, and their sockets. */
@Injectable()
export class ViewerSessions {
  constructor(
    private readonly awake: EnsureAwakeHandler,
    private readonly computers: AwakeComputers,
    private readonly sessions: ViewerSessionLog,
    private readonly clock: Clock,
  ) {}

  /** Wakes the computer. The session's id derives from the command's, so that one sent again returns the same session. */
  async open(request: OpenViewer): Promise<ViewerSessionView> {
    const { commandId, accountId, actor, computerId, mode, takeover, secretHash, ttlSeconds } = request;
    await this.awake.handle({ commandId, accountId, actor, computerId, refusedEpoch: null });
    const sessionId = deriveId('vws', commandId);
    const now = this.clock.now();
    const session: OpenedSession = {
      ...{ sessionId, computerId, accountId, keyId: actor.id, mode, takeover, secretHash, ttlSeconds },
      expiresAt: isoTime(now + ttlSeconds * 1_000),
      at: isoTime(now),
    };
    const { state } = await this.sessions.handle(sessionId, { type: 'Open', session }, request);
    return viewOf(state);
  }

  /** The first socket uses the session up; what is refused wakes no computer. */
  async connect(request: ConnectViewer): Promise<OpenedTransfer> {
    const { sessionId } = request;
    if (!isId('vws', sessionId)) throw sessionNotFound();
    const state = await this.sessions.load(sessionId);
    if (state.status === 'absent' || !isOf(state.session, request)) throw sessionNotFound();
    const at = isoTime(this.clock.now());
    // Unless this very command has used it up: its ticket was lost, or refused by the host.
    if (state.openedAt === null) requireUnused(state, at);
    else await this.sessions.handle(sessionId, { type: 'Connect', at }, request);
    if (state.status === 'ended') throw sessionNotFound();
    const { mode, takeover } = state.session;
    const opened = await this.computers.open(request, { kind: 'vnc', sessionId, mode, takeover });
    const command = { type: 'Connect', at: isoTime(this.clock.now()) } as const;
    await this.sessions.handle(sessionId, command, request);
    return opened;
  }

  /** Its socket has closed. */
  async end(request: ComputerRef & { readonly sessionId: string }): Promise<void> {
    const { sessionId } = request;
    if (!isId('vws', sessionId)) return;
    const state = await this.sessions.load(sessionId);
    if (state.status === 'absent' || !isOf(state.session, request)) return;
    const command = { type: 'End', reason: 'socket', at: isoTime(this.clock.now()) } as const;
    await this.sessions.handle(sessionId, command, request);
  }
}

const isOf = (session: OpenedSession, { accountId, computerId }: ComputerRef): boolean =>
  session.accountId === accountId && session.computerId === computerId;

const viewOf = (state: ViewerSession): ViewerSessionView => {
  if (state.status === 'absent') throw sessionNotFound();
  const { sessionId, mode, takeover, at, expiresAt } = state.session;
  return {
    ...{ sessionId, mode, takeover, expiresAt, createdAt: at, openedAt: state.openedAt },
    status: state.openedAt === null ? 'waiting' : 'open',
  };
};
