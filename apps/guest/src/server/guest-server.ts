import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError, isDomainError } from '@berth/kernel';
import { endSocket, guardServer, type ConnectionBounds } from '@berth/sockets';
import {
  BEGIN_BEFORE_HEADER,
  CLOCK_HEADER,
  monotonicNow,
  TOO_LATE_CODE,
  type GuestErrorBody,
  type GuestRoute,
} from '@berth/guest-protocol';
import { readJson } from './read-json.js';
import type { StreamRoute, UpgradeRoute } from './stream-route.js';

/** Input of a route's handler: the body (undefined without one) and the query. */
export interface JsonRequest {
  readonly body: unknown;
  readonly query: URLSearchParams;
}

/** A JSON route. A handler's `DomainError` is returned to the caller in full, any other error only as `internal`. */
export interface JsonRoute extends GuestRoute {
  readonly handle: (request: JsonRequest) => Promise<unknown>;
}

export type Route = JsonRoute | StreamRoute | UpgradeRoute;

const STATUS_OF_REFUSAL = 422;

const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;
/** Maximum duration of an upload. Responses have no time limit: the callers have their own deadlines. */
const REQUEST_MS = 3_600_000;
const TIMEOUT_CHECK_MS = 5_000;
const BOUNDS: ConnectionBounds = { most: 2_000, idleMs: KEEP_ALIVE_MS + HEADERS_MS, stalledMs: 180_000 };

/**
 * The HTTP server of a guest's routes. It trusts every caller that can reach its socket: the folder's mode is the
 * access control.
 */
export const createGuestServer = (routes: () => readonly Route[]): Server => {
  const timeouts = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
  const server = createServer(timeouts, (request, response) => {
    respond(routes(), request, response).catch((error: unknown) => refuse(response, error));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(routes(), request, socket, head).catch((error: unknown) => refuseUpgrade(socket, error));
  });
  guardServer(server, BOUNDS);
  return server;
};

const respond = async (
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { route, query } = find(routes, request);
  if ('stream' in route) {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return route.stream({ query, request, response, gone: gone.signal });
  }
  if (!('handle' in route)) throw unknownRoute();
  const body = await readJson(request);
  refuseTooLate(request);
  send(response, 200, await route.handle({ body, query }));
};

const upgrade = async (
  routes: readonly Route[],
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> => {
  const { route } = find(routes, request);
  if (!('upgrade' in route)) throw unknownRoute();
  await route.upgrade(request, socket, head);
};

/** A route that reads a file also handles HEAD: its stream sees the method. */
const find = (
  routes: readonly Route[],
  request: IncomingMessage,
): { readonly route: Route; readonly query: URLSearchParams } => {
  const url = new URL(request.url ?? '/', 'http://guest');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const route = routes.find((candidate) => candidate.method === method && candidate.path === url.pathname);
  if (route === undefined) throw unknownRoute();
  return { route, query: url.searchParams };
};

const unknownRoute = (): DomainError =>
  new DomainError('unsupported', 'guest_route_unknown', 'This guest has no such route.');

const refuse = (response: ServerResponse, error: unknown): void => {
  if (response.headersSent) response.destroy();
  else send(response, STATUS_OF_REFUSAL, toErrorBody(error));
};

const refuseUpgrade = (socket: Duplex, error: unknown): void => {
  const body = JSON.stringify(toErrorBody(error));
  endSocket(
    socket,
    `HTTP/1.1 ${STATUS_OF_REFUSAL} Unprocessable Entity\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};

/** A guest that was suspended may read requests that its host has long abandoned. */
const refuseTooLate = ({ headers }: IncomingMessage): void => {
  const before = headers[BEGIN_BEFORE_HEADER];
  if (typeof before !== 'string' || !(monotonicNow() > Number(before))) return;
  throw new DomainError(
    'unavailable',
    TOO_LATE_CODE,
    'The request arrived too late and was not started.',
    {},
    { effect: 'none' },
  );
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  if (response.destroyed) return;
  const text = JSON.stringify(body ?? {});
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    [CLOCK_HEADER]: monotonicNow().toFixed(3),
  });
  response.end(text);
};

const toErrorBody = (error: unknown): GuestErrorBody => {
  if (isDomainError(error)) {
    const { kind, code, message, context, effect } = error;
    return { error: { kind, code, message, context, ...(effect === undefined ? {} : { effect }) } };
  }
  return {
    error: {
      kind: 'internal',
      code: 'guest_failed',
      message: 'The guest failed to handle the request.',
      context: {},
    },
  };
};
