import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { guardServer } from '@berth/sockets';

/** The part of Berth's API that is meant for agents. */
const AGENT_API = /^\/agent\/v1(?:\/|$)/;
const RELAY = 'http://relay';
/** Limits, because other processes may reach the loopback address of a shared machine. */
const BOUNDS = { most: 256, idleMs: 60_000, stalledMs: 60_000 };
const TIMEOUTS = { headersTimeout: 10_000, connectionsCheckingInterval: 5_000 };
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Forwards the agent's requests to Berth's API from a loopback address, so that the agent needs no other network. */
export class ApiRelay {
  #gatewayUrl: string | null = null;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async open(): Promise<ApiRelay> {
    const server = createServer(TIMEOUTS);
    guardServer(server, BOUNDS);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay has no port');
    const relay = new ApiRelay(server, address.port);
    server.on('request', (request, response) => relay.#pass(request, response));
    return relay;
  }

  /** Sets the target of the requests; null rejects them. */
  pointTo(gatewayUrl: string | null): void {
    this.#gatewayUrl = gatewayUrl;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const wanted = agentPath(request.url ?? '/');
    if (wanted === undefined) {
      return refuse(response, 404, 'not_found', 'Only /agent/v1 can be reached from inside an agent.');
    }
    if (this.#gatewayUrl === null)
      return refuse(response, 503, 'service_unavailable', 'Berth’s API cannot be reached.');
    const target = new URL(wanted, this.#gatewayUrl);
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const onward = send(target, {
      method: request.method,
      headers: { ...endToEnd(request.headers), host: target.host },
    });
    onward.on('response', (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, endToEnd(upstream.headers));
      upstream.on('error', () => response.destroy());
      upstream.pipe(response);
    });
    onward.on('error', () => refuse(response, 503, 'service_unavailable', 'Berth’s API cannot be reached.'));
    response.on('close', () => onward.destroy());
    request.on('error', () => onward.destroy());
    request.pipe(onward);
  }
}

/** The path and query to send, with dot segments resolved; undefined if they lead elsewhere. */
const agentPath = (url: string): string | undefined => {
  if (!url.startsWith('/') || !URL.canParse(url, RELAY)) return undefined;
  const { origin, pathname, search } = new URL(url, RELAY);
  return origin === RELAY && AGENT_API.test(pathname) ? `${pathname}${search}` : undefined;
};

const endToEnd = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));

const refuse = (response: ServerResponse, status: number, code: string, message: string): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ detail: { code, message } }));
};
