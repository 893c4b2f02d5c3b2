import { computersRequests, type FoundViewer } from '@berth/contracts/computers';
import type { OpenedTransfer } from '@berth/contracts/hosting';
import { DomainError, detach, isDomainError, newId, type CommandEnvelope } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import type { WebSocket } from 'ws';
import { ConnectionShares } from '../../auth/connection-shares.js';
import { CredentialWatch } from '../../auth/credential-watch.js';
import { CREDENTIAL_ENDED, HostSockets, NORMAL_CLOSURE, type SocketEnd } from '../../hosts/host-sockets.js';
import type { ApiReply, ApiRequest } from '../../http/fastify-types.js';
import { invalidRequest } from '../../http/http-refusal.js';
import { requireWebSocket } from '../../http/upgrades.js';
import { WebSockets } from '../../http/web-sockets.js';
import { aboutComputer } from '../computer-errors.js';
import { ComputerReports } from '../computer-reports.js';

/** Of one message of a client: enough for a large paste. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const SUBPROTOCOL = 'binary';
const EXPIRED: SocketEnd = { code: NORMAL_CLOSURE, reason: 'The session has expired.' };

/** Joins the only socket of a viewer session to the screen of its computer. */
@Injectable()
export class ViewerSockets {
  readonly #sockets = new WebSockets(MAX_MESSAGE_BYTES, SUBPROTOCOL);

  constructor(
    private readonly requester: Requester,
    private readonly hosts: HostSockets,
    private readonly credentials: CredentialWatch,
    private readonly shares: ConnectionShares,
    private readonly reports: ComputerReports,
  ) {}

  /**
   * Uses the session up. Errors: 426, 400; forbidden `session_used`, also for a session that is over (undefined); 429; those
   * of `computersRequests.connectViewer`.
   */
  async open(request: ApiRequest, reply: ApiReply, found: FoundViewer | undefined): Promise<void> {
    const gone = requireWebSocket(request);
    if (found === undefined || found.session.status === 'open') throw sessionUsed();
    requireSubprotocol(request);
    const { accountId, computerId } = found;
    const { sessionId } = found.session;
    const crowded = this.shares.refusalFor(accountId, reply);
    if (crowded !== undefined) throw crowded;
    const actor = { kind: 'viewer', id: sessionId } as const;
    const command = { commandId: newId('cmd'), accountId, actor, computerId, sessionId };
    let isUsedUp = false;
    const open = async (refusedEpoch: number | null): Promise<OpenedTransfer> => {
      const opened = await this.requester.request(computersRequests.connectViewer, {
        ...command,
        refusedEpoch,
      });
      isUsedUp = true;
      return opened;
    };
    try {
      const host = await aboutComputer(this.hosts.dial(open, gone));
      const client = this.#sockets.accept(request, reply);
      if (client === undefined) host.terminate();
      else detach(this.#join(found, client, host).finally(() => this.#end(command)));
      if (client === undefined) this.#end(command);
    } catch (error) {
      if (isUsedUp) this.#end(command);
      throw isDomainError(error, 'not_found') ? sessionUsed(error) : error;
    }
  }

  #join(found: FoundViewer, client: WebSocket, host: WebSocket): Promise<void> {
    return this.hosts.join(client, host, (over) => this.#endsOf(found, over));
  }

  #endsOf({ keyId, session }: FoundViewer, over: AbortSignal): readonly Promise<SocketEnd | undefined>[] {
    const refused = this.credentials.untilKeyRefused(keyId, over);
    return [
      untilTime(Date.parse(session.expiresAt), over).then(() => EXPIRED),
      refused.then((reason) => (reason === undefined ? undefined : CREDENTIAL_ENDED)),
    ];
  }

  #end(command: CommandEnvelope & { readonly computerId: string; readonly sessionId: string }): void {
    this.reports.add(computersRequests.endViewer, { ...command, commandId: newId('cmd') });
  }
}

/** Resolves at that time, in milliseconds since 1970, or once `over` aborts. */
const untilTime = (time: number, over: AbortSignal): Promise<void> =>
  pause(Math.max(0, time - Date.now()), over);

/** Clients that are no browsers may name no subprotocol. */
const requireSubprotocol = ({ headers }: ApiRequest): void => {
  const offered = headers['sec-websocket-protocol'];
  if (offered === undefined || offered.split(',').some((name) => name.trim() === SUBPROTOCOL)) return;
  throw invalidRequest([{ path: 'Sec-WebSocket-Protocol', message: `must include ${SUBPROTOCOL}` }]);
};

const sessionUsed = (cause?: unknown): DomainError =>
  new DomainError(
    'forbidden',
    'session_used',
    'The session is over, or a socket of it was opened before. Create another session.',
    {},
    { cause },
  );
