import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { guardServer, requestIdOf } from '@berth/sockets';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorResponse } from './error-response.js';
import type { HttpServer } from './fastify-types.js';
import { holdContinue, refuseExpectation } from './expectations.js';
import { readJsonBody } from './json-body.js';
import { rejectBrokenRequest, refuseConnect } from './raw-responses.js';
import { STREAMED_TYPE } from './request-hooks.js';
import { routableTarget } from './request-target.js';
import { handleUpgrade, wantsWebSocket } from './upgrades.js';
import { setFixedHeaders } from './fixed-headers.js';

/** Limits of one client. */
export interface ClientBounds {
  /** A client that neither sends nor receives for this long is disconnected. */
  readonly clientTimeoutMs: number;
  /** Maximum number of open connections. */
  readonly maxConnections: number;
}

const DEFAULT_BOUNDS: ClientBounds = { clientTimeoutMs: 60_000, maxConnections: 1_000 };

/** Headers are short, so they get less time than bodies. */
const HEADERS_MS = 10_000;
/** Long enough for the slowest upload; other bodies have their own deadline (late-bodies.ts). */
const REQUEST_MS = 3_600_000;
const KEEP_ALIVE_MS = 72_000;
/** How often Node looks for requests past those bounds. */
const TIMEOUT_CHECK_MS = 2_000;

/** The time of a response is not limited here, because a chat may wait for 600 s. */
const timeoutsOf = ({ clientTimeoutMs }: ClientBounds) => ({
  headersTimeout: Math.min(HEADERS_MS, clientTimeoutMs),
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
});

/** Longer than any header block: an over-long parameter is an unknown id or a bad field, never a router error. */
const MAX_PARAM_CHARS = 65_536;

/** Options of a Fastify instance whose errors of the HTTP layer have the format of the API. */
export const serverOptions = (bounds: ClientBounds = DEFAULT_BOUNDS) => ({
  logger: false,
  genReqId: (raw: IncomingMessage) => requestIdOf(raw.headers['x-request-id']),
  requestIdHeader: false as const,
  return503OnClosing: false,
  forceCloseConnections: false,
  bodyLimit: JSON_BODY_LIMIT,
  ...timeoutsOf(bounds),
  routerOptions: { maxParamLength: MAX_PARAM_CHARS },
  rewriteUrl: routableTarget,
  serverFactory: (handler: Handler) => {
    const server = createNodeServer(handler, bounds);
    handlers.set(server, handler);
    return server;
  },
  clientErrorHandler: rejectBrokenRequest,
  frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, body } = errorResponse(error);
    setFixedHeaders(request, reply);
    void reply.code(status).headers(headers).send(body);
  },
});

/** Declares the members that hooks set on requests, and the only body parser. */
export const prepareRequests = (server: HttpServer): void => {
  server.decorateRequest('appLabel', undefined);
  server.decorateRequest('principal', null);
  server.decorateRequest('credential', undefined);
  server.decorateRequest('declaredType', undefined);
  server.decorateRequest('bodyDigest', undefined);
  server.decorateRequest('hasBegun', false);
  server.decorateRequest('effect', undefined);
  server.decorateRequest('refusalCode', undefined);
  server.decorateRequest('claim', undefined);
  server.addHook('onRoute', (route) => {
    const body = route.config?.rules?.body;
    if (body?.streamed !== true && body?.limitBytes !== undefined) route.bodyLimit = body.limitBytes;
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(STREAMED_TYPE, (_request, _payload, done) => done(null));
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: JSON_BODY_LIMIT }, readJsonBody);
};

/** The handler of each server that Fastify has. */
const handlers = new WeakMap<Server, Handler>();

/** A server for another address whose requests pass the same pipeline as those of `main`. */
export const serveAlso = (main: Server, bounds: ClientBounds): Server => {
  const handler = handlers.get(main);
  if (handler === undefined) throw new Error('The server has no pipeline.');
  return createNodeServer(handler, bounds).on('clientError', rejectBrokenRequest);
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const createNodeServer = (handler: Handler, bounds: ClientBounds) => {
  // A hook requires the Host header and responds with a body; Node's own error has none.
  const server = createServer(
    {
      ...timeoutsOf(bounds),
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, bounds.clientTimeoutMs),
      requireHostHeader: false,
      shouldUpgradeCallback: wantsWebSocket,
    },
    handler,
  );
  server.on('upgrade', handleUpgrade(handler));
  server.on('checkContinue', holdContinue(handler));
  server.on('checkExpectation', refuseExpectation(handler));
  server.on('connect', refuseConnect);
  guardServer(server, {
    most: bounds.maxConnections,
    idleMs: KEEP_ALIVE_MS + HEADERS_MS,
    stalledMs: bounds.clientTimeoutMs,
  });
  return server;
};
