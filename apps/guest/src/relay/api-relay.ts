import { request as httpRequest } from 'node:http';
import { API_REFUSALS, unfitRequest } from '@berth/guest-protocol';
import { detach } from '@berth/kernel';
import {
  GuardedServer,
  onExchange,
  relayHttp,
  requestIdOf,
  UnfitRequest,
  type HttpExchange,
} from '@berth/sockets';

/** Limits, because other processes may reach the loopback address of a shared machine. */
const BOUNDS = { most: 256, idleMs: 60_000, stalledMs: 60_000 };
const TIMEOUTS = { headersTimeout: 10_000, connectionsCheckingInterval: 5_000 };

/** Forwards the agent's requests from a loopback address to the host, so that the agent needs no network for them. */
export class ApiRelay {
  private constructor(
    private readonly server: GuardedServer,
    readonly port: number,
  ) {}

  /** `socket`: path of the host's `API_SOCKET`, which need not exist yet. */
  static async open(socket: string): Promise<ApiRelay> {
    const server = new GuardedServer(TIMEOUTS, BOUNDS, (listening) =>
      onExchange(listening, (exchange) => detach(forward(socket, exchange))),
    );
    const url = await server.listen({ host: '127.0.0.1', port: 0, url: undefined });
    return new ApiRelay(server, Number(new URL(url).port));
  }

  /** Ends it and all its connections. */
  close(): Promise<void> {
    return this.server.close();
  }
}

const forward = async (socketPath: string, exchange: HttpExchange): Promise<void> => {
  const { request, response } = exchange;
  const requestId = requestIdOf(request.headers['x-request-id']);
  try {
    await relayHttp(exchange, {
      requestId,
      send: ({ method, headers }) =>
        httpRequest({ socketPath, path: request.url, method, headers, agent: false }),
    });
  } catch (error) {
    const refusal = error instanceof UnfitRequest ? unfitRequest(error.problem) : API_REFUSALS.unavailable;
    if (response.headersSent || response.destroyed) response.destroy();
    else
      response.writeHead(refusal.status, { ...refusal.headers, 'x-request-id': requestId }).end(refusal.body);
  }
};
