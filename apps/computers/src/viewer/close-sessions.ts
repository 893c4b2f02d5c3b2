import type { CloseSessions } from '@berth/contracts/computers';
import { isoTime, stepOf } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { ComputerUseStreams } from '../use/computer-use.streams.js';
import { ViewerSessionLog } from './viewer-session-log.js';
import { ViewerSessionsQuery } from './viewer-sessions.query.js';
import { ViewerSockets } from './viewer-sockets.js';

/** Closes viewer sessions at their owner's request. Wakes no computer. */
@Injectable()
export class CloseSessionsHandler {
  constructor(
    private readonly computers: ComputersFromLog,
    private readonly query: ViewerSessionsQuery,
    private readonly sessions: ViewerSessionLog,
    private readonly sockets: ViewerSockets,
    private readonly uses: ComputerUseStreams,
  ) {}

  /** Returns how many were closed, the same for a command that is sent again. Errors: not_found `computer_not_found`. */
  async close({ sessionId, ...request }: CloseSessions): Promise<{ readonly closed: number }> {
    const { accountId, computerId } = request;
    const { host } = await this.computers.load(accountId, computerId);
    const at = isoTime(Date.now());
    let sessions = 0;
    const open: string[] = [];
    for (const id of await this.query.living(computerId, sessionId)) {
      const command = { type: 'End', reason: 'closed', at } as const;
      const { state, events } = await this.sessions.handle(id, command, stepOf(request, `close:${id}`));
      sessions += events.length;
      if (state.status !== 'absent' && state.openedAt !== null) open.push(id);
    }
    await this.sockets.close(computerId, host, open);
    const data = { computerId, sessions, at };
    const { events } = await this.uses.handle(computerId, { type: 'ViewerSessionsClosed', data }, request);
    const [recorded] = events;
    return { closed: recorded?.type === 'ViewerSessionsClosed' ? recorded.data.sessions : sessions };
  }
}
