import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectationProblem } from '@berth/sockets';
import { unsupportedMediaType } from './error-response.js';
import { isStreamed, type ApiRequest, type HttpServer } from './fastify-types.js';
import { unfitRequest } from './http-refusal.js';
import { JSON_TYPE } from './json-body.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Sends a request with an unsupported `Expect` header through all hooks, so that the checks reject it in their usual
 * order.
 */
export const refuseExpectation =
  (handler: Handler): Handler =>
  (request, response) => {
    response.shouldKeepAlive = false;
    handler(request, response);
  };

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Holds `100 Continue` back, which Node would send before any hook has checked the request. */
export const holdContinue =
  (handler: Handler): Handler =>
  (request, response) => {
    waiting.set(request, response);
    handler(request, response);
  };

/** Lets the client send its body. Does nothing for a client that does not wait. */
export const grantContinue = (request: IncomingMessage): void => {
  const response = waiting.get(request);
  waiting.delete(request);
  if (response !== undefined && !response.headersSent && !response.destroyed) response.writeContinue();
};

/**
 * Sends `100 Continue` for bodies that will be read: all headers have been checked by then. Routes that stream
 * their body grant it when they begin to read.
 */
export const addContinueHook = (server: HttpServer): void => {
  server.addHook('preParsing', (request, _reply, _payload, done) => {
    const { config, bodyLimit } = request.routeOptions;
    const problem = expectationProblem(request.raw);
    if (problem !== undefined) return done(unfitRequest(problem));
    const length = Number(request.headers['content-length'] ?? 0);
    if (!waiting.has(request.raw) || isStreamed(config.rules) || length > bodyLimit) return done();
    // The parser would read the body first. Only an empty body may have any type.
    if (length > 0 && !isPlainJson(request)) return done(unsupportedMediaType());
    grantContinue(request.raw);
    return done();
  });
};

const isPlainJson = ({ headers, declaredType }: ApiRequest): boolean =>
  (declaredType === undefined || JSON_TYPE.test(declaredType)) &&
  (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
