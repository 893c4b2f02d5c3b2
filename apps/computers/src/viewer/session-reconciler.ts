import { isoTime } from '@berth/kernel';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { systemOrigin } from '../computer/computer.command-handler.js';
import { ViewerSessionLog } from './viewer-session-log.js';
import { ViewerSessionsQuery, type OverSession } from './viewer-sessions.query.js';
import { ViewerSockets } from './viewer-sockets.js';

const TICK_MS = 1_000;
const AT_ONCE = 100;

/** Ends the viewer sessions that are over: expired, or with their computer, their key or their owner. */
@Injectable()
@RunOnOneInstance({ name: 'viewer-sessions' })
export class SessionReconciler implements Runnable {
  constructor(
    private readonly query: ViewerSessionsQuery,
    private readonly sessions: ViewerSessionLog,
    private readonly sockets: ViewerSockets,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await Promise.all((await this.query.over(AT_ONCE)).map((session) => this.end(session)));
      await pause(TICK_MS, signal);
    }
  }

  private async end({ sessionId, computerId, accountId, host, reason }: OverSession): Promise<void> {
    const command = { type: 'End', reason, at: isoTime(Date.now()) } as const;
    await this.sessions.handle(sessionId, command, systemOrigin(accountId, `${sessionId}/over`));
    if (host !== null) await this.sockets.close(computerId, host, [sessionId]);
  }
}
