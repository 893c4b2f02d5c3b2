import { request as httpRequest } from 'node:http';
import { API_REFUSALS } from '@berth/guest-protocol';
import { forwardExchange, GuardedServer, type HttpExchange } from '@berth/sockets';

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
      listening.on('request', (request, response) => void forward(socket, { request, response })),
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
  try {
    await forwardExchange(exchange, (onward) => httpRequest({ ...onward, socketPath, path: request.url }));
  } catch {
    const { status, headers, body } = API_REFUSALS.unavailable;
    if (!response.destroyed) response.writeHead(status, headers).end(body);
  }
};
