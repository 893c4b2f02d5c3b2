import { agentsRequests } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { envelopeOf } from '../auth/caller.js';
import { CredentialWatch } from '../auth/credential-watch.js';
import { GatewayConfig } from '../config.js';
import { clientAddressOf } from '../http/client-address.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { upgradeOf } from '../http/upgrades.js';
import type { AppCaller } from './app-access.js';
import { AppConnections } from './app-connections.js';
import { exchangeWithApp, type AppExchange } from './app-exchange.js';
import { AppOrigins, hostnameOf } from './app-origins.js';
import { openAppSocket } from './app-socket.js';

/** Sends admitted requests to the programs of agents. */
@Injectable()
export class AppForwarder {
  constructor(
    private readonly connections: AppConnections,
    private readonly requester: Requester,
    private readonly origins: AppOrigins,
    private readonly config: GatewayConfig,
    private readonly context: ServiceContext,
    private readonly credentials: CredentialWatch,
  ) {}

  /** Resolves when the exchange is over. Throws before the first byte of the response only. */
  async forward(request: ApiRequest, reply: ApiReply, caller: AppCaller, target: string): Promise<void> {
    const exchange = this.exchangeOf(request, reply, caller, target);
    const gone = upgradeOf(request.raw);
    const cut = new AbortController();
    const watch = this.watch(request, cut, gone !== undefined);
    try {
      if (gone !== undefined) {
        await openAppSocket(exchange, this.connections, { request, reply, gone, cut: cut.signal });
      } else {
        cut.signal.addEventListener('abort', () => reply.raw.destroy(), { once: true });
        await exchangeWithApp(exchange, this.connections);
      }
    } finally {
      watch.end();
    }
  }

  private exchangeOf(
    request: ApiRequest,
    reply: ApiReply,
    { agentId, principal }: AppCaller,
    target: string,
  ): AppExchange {
    const { raw, id: requestId } = request;
    const envelope = envelopeOf(request);
    return {
      app: {
        accountId: principal.accountId,
        agentId,
        open: (refusedEpoch) =>
          this.requester.request(agentsRequests.openApp, { ...envelope, agentId, refusedEpoch }),
      },
      request: raw,
      response: reply.raw,
      target,
      forwarded: {
        requestId,
        clientAddress: clientAddressOf(raw, this.config.trustedProxies),
        scheme: this.origins.scheme,
        externalUserId: principal.kind === 'end_user' ? principal.externalId : null,
      },
      hostname: hostnameOf(raw.headers.host ?? ''),
      closing: this.context.stopping.aborted,
    };
  }

  /** Aborts `cut` when the credential is no longer valid, and for sockets when the service stops. */
  private watch(request: ApiRequest, cut: AbortController, isSocket: boolean): { end(): void } {
    const watched = this.credentials.whileLong(request, () => cut.abort());
    const stop = (): void => cut.abort();
    // Requests in flight get a few seconds; see `ConnectionDrain`.
    if (isSocket) this.context.stopping.addEventListener('abort', stop, { once: true });
    return {
      end: () => {
        watched[Symbol.dispose]();
        this.context.stopping.removeEventListener('abort', stop);
      },
    };
  }
}
