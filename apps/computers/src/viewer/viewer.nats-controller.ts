import {
  computersRequests,
  type CloseSessions,
  type ComputerRef,
  type ConnectViewer,
  type FoundViewer,
  type GetComputer,
  type OpenViewer,
  type ViewerSessionView,
} from '@berth/contracts/computers';
import type { OpenedTransfer } from '@berth/contracts/files';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { CloseSessionsHandler } from './close-sessions.js';
import { ViewerSessions } from './viewer-sessions.js';
import { ViewerSessionsQuery } from './viewer-sessions.query.js';

@Controller()
export class ViewerNatsController {
  constructor(
    private readonly sessions: ViewerSessions,
    private readonly closing: CloseSessionsHandler,
    private readonly query: ViewerSessionsQuery,
  ) {}

  @HandleRequest(computersRequests.openViewer)
  open(request: OpenViewer): Promise<ViewerSessionView> {
    return this.sessions.open(request);
  }

  @HandleRequest(computersRequests.findViewer)
  find({ secretHash }: { readonly secretHash: string }): Promise<FoundViewer> {
    return this.query.find(secretHash);
  }

  @HandleRequest(computersRequests.connectViewer)
  connect(request: ConnectViewer): Promise<OpenedTransfer> {
    return this.sessions.connect(request);
  }

  @HandleRequest(computersRequests.endViewer)
  async end(request: ComputerRef & { readonly sessionId: string }): Promise<Record<string, never>> {
    await this.sessions.end(request);
    return {};
  }

  @HandleRequest(computersRequests.listSessions)
  list(request: GetComputer): Promise<{ readonly items: readonly ViewerSessionView[] }> {
    return this.query.list(request);
  }

  @HandleRequest(computersRequests.closeSessions)
  close(request: CloseSessions): Promise<{ readonly closed: number }> {
    return this.closing.close(request);
  }
}
