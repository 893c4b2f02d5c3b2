import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerTo, JSON_BODY_LIMIT } from './error-answer.js';
import type { HttpServer } from './fastify-types.js';
import { readJsonBody } from './json-body.js';
import { HttpRefusal } from './http-refusal.js';
import { requestIdOf } from './request-id.js';
import { answerBrokenRequest, answerConnect, writeRawAnswer } from './raw-answers.js';
import { STREAMED_TYPE } from './request-hooks.js';
import { answerUpgrade, wantsWebSocket } from './upgrades.js';
import { setFixedHeaders } from './fixed-headers.js';

/**
 * Headers within 10 s. An hour is for the slowest upload; other bodies have a deadline of their own (late-bodies.ts).
 * How long an answer takes is not bounded here, because a chat waits for 600 s.
 */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 3_600_000, keepAliveTimeout: 72_000 };

/** How often Node looks for requests past those bounds. */
const TIMEOUT_CHECK_MS = 2_000;

/** Longer than any header block: an over-long parameter is an unknown id or a bad field, never a router error. */
const MAX_PARAM_CHARS = 65_536;

/** Options of a Fastify instance that answers errors of the HTTP layer itself in the API's words. */
export const serverOptions = () => ({
  logger: false,
  genReqId: (raw: IncomingMessage) => requestIdOf(raw.headers['x-request-id']),
  requestIdHeader: false as const,
  return503OnClosing: false,
  forceCloseConnections: false,
  bodyLimit: JSON_BODY_LIMIT,
  ...TIMEOUTS,
  routerOptions: { maxParamLength: MAX_PARAM_CHARS },
  serverFactory: createNodeServer,
  clientErrorHandler: answerBrokenRequest,
  frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, body } = answerTo(error);
    setFixedHeaders(request, reply);
    void reply.code(status).headers(headers).send(body);
  },
});

/** Members that requests carry from hook to hook, and the one way a body is read. */
export const prepareRequests = (server: HttpServer): void => {
  server.decorateRequest('principal', null);
  server.decorateRequest('declaredType', undefined);
  server.decorateRequest('bodyDigest', undefined);
  server.decorateRequest('outcomeUnknown', false);
  server.decorateRequest('claim', undefined);
  server.addHook('onRoute', (route) => {
    const limit = route.config?.rules?.bodyLimit;
    if (limit !== undefined) route.bodyLimit = limit;
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(STREAMED_TYPE, (_request, _payload, done) => done(null));
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: JSON_BODY_LIMIT }, readJsonBody);
};

const createNodeServer = (handler: (request: IncomingMessage, response: ServerResponse) => void) => {
  // The Host header is asked for by a hook, which answers with a body; Node's own refusal has none.
  const server = createServer(
    {
      ...TIMEOUTS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requireHostHeader: false,
      shouldUpgradeCallback: wantsWebSocket,
    },
    handler,
  );
  server.on('upgrade', answerUpgrade(handler));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = new HttpRefusal(417, 'expectation_failed', 'Only Expect: 100-continue is understood.');
    writeRawAnswer(request, response, refusal);
  });
  server.on('connect', answerConnect);
  return server;
};
