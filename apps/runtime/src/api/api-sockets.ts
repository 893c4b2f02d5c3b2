import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { API_REFUSALS, unfitRequest, type ApiRefusal } from '@berth/guest-protocol';
import { detach } from '@berth/kernel';
import {
  endToEnd,
  guardServer,
  onExchange,
  relayHttp,
  requestIdOf,
  UnfitRequest,
  type HttpExchange,
} from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { agentApiPath } from './agent-api-path.js';
import { ApiSocket, MOST_CONNECTIONS } from './api-socket.js';

const BOUNDS = { most: MOST_CONNECTIONS, idleMs: 60_000, stalledMs: 60_000 };

/**
 * Offers Berth's API to the agents of this host, each on a socket of its own, and forwards their requests to a gateway.
 * One HTTP server serves the connections of all sockets, so that an idle agent costs one descriptor.
 */
@Injectable()
export class ApiSockets {
  /** Never listens itself. */
  readonly #server = createServer();
  readonly #socketOf = new WeakMap<Duplex, ApiSocket>();
  #isReached = true;

  constructor(
    @Inject(RuntimeConfig) private readonly config: Pick<RuntimeConfig, 'gatewayUrl'>,
    private readonly log: Logger,
  ) {
    onExchange(this.#server, (exchange) => detach(this.#serve(exchange)));
    guardServer(this.#server, BOUNDS);
  }

  /** `folder`: that of the socket of the agent's guest. Errors: those of the file system. */
  open(folder: string): Promise<ApiSocket> {
    return ApiSocket.open(folder, (connection, socket) => {
      this.#socketOf.set(connection, socket);
      this.#server.emit('connection', connection);
    });
  }

  async #serve(exchange: HttpExchange): Promise<void> {
    const { request } = exchange;
    const socket = this.#socketOf.get(request.socket);
    const target = agentApiPath(request.url ?? '/');
    if (target === undefined || socket === undefined) return refuse(exchange, API_REFUSALS.notFound);
    // The token of a frozen agent is not good; its request came too late to keep it awake.
    await socket.resumed();
    if (request.socket.destroyed) return;
    const end = target.isLlmCall ? socket.calls.begin() : undefined;
    try {
      await this.#forward(exchange, target.path);
    } finally {
      end?.();
    }
  }

  async #forward(exchange: HttpExchange, path: string): Promise<void> {
    const { gatewayUrl } = this.config;
    if (gatewayUrl === null) return refuse(exchange, API_REFUSALS.unavailable);
    const url = new URL(path, gatewayUrl);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    try {
      await relayHttp(exchange, {
        requestId: idOf(exchange),
        requestFields: (fields) => endToEnd(fields, HOST),
        added: ['Host', url.host],
        // Each has a connection of its own, because agents of different accounts share this host.
        send: ({ method, headers }) => send(url, { method, headers, agent: false }),
      });
      this.#note(true);
    } catch (error) {
      if (error instanceof UnfitRequest) return refuse(exchange, unfitRequest(error.problem));
      // A caller that has hung up says nothing about the gateway.
      if (!exchange.response.destroyed) this.#note(false, error);
      refuse(exchange, API_REFUSALS.unavailable);
    }
  }

  /** Logs changes only: a program may try again without a pause. */
  #note(isReached: boolean, error?: unknown): void {
    if (isReached === this.#isReached) return;
    this.#isReached = isReached;
    if (isReached) this.log.info({}, 'agents reach the API again');
    else this.log.warn({ err: error }, 'agents cannot reach the API: no response at BERTH_GATEWAY_URL');
  }
}

/** The caller's names Berth as the agent sees it. */
const HOST: ReadonlySet<string> = new Set(['host']);

const idOf = ({ request }: HttpExchange): string => requestIdOf(request.headers['x-request-id']);

const refuse = (exchange: HttpExchange, { status, headers, body }: ApiRefusal): void => {
  const { response } = exchange;
  if (response.headersSent || response.destroyed) response.destroy();
  else response.writeHead(status, { ...headers, 'x-request-id': idOf(exchange) }).end(body);
};
