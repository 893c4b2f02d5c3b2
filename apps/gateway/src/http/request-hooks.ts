import { AsyncLocalStorage } from 'node:async_hooks';
import { detach } from '@berth/kernel';
import { framingProblem } from '@berth/sockets';
import { requestContext, withSpan } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unknownRoute } from './error-response.js';
import { isStreamed, type HttpServer } from './fastify-types.js';
import { setFixedHeaders } from './fixed-headers.js';
import { HttpRefusal, invalidRequest, unfitRequest } from './http-refusal.js';
import { hostRefusal } from './host-header.js';
import { loggedPathOf, pathOf } from './request-path.js';
import { routeNameOf } from './route-name.js';
import { hasBrokenPath, isDecodable } from './request-target.js';
import { paramsOf, type RouteResource } from './resource.js';
import type { RouteTable } from './route-table.js';

/** Every request runs inside its context, so that logs and messages to services carry its id. */
export const addContextHook = (server: HttpServer, options: { readonly tracing: boolean }): void => {
  server.addHook('onRequest', (request, reply, done) => {
    requestContext.run({ requestId: request.id }, () => {
      if (options.tracing) inServerSpan(request, reply, done);
      else done();
    });
  });
};

/** The span lasts until the response is sent, not only until this hook returns. */
const inServerSpan = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  const route = routeNameOf(request);
  const { traceparent, tracestate } = request.headers;
  const parent =
    typeof traceparent === 'string'
      ? { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) }
      : undefined;
  const span = withSpan(
    `${request.method} ${route}`,
    {
      kind: 'server',
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'url.path': request.appLabel === undefined ? loggedPathOf(request) : route,
      },
      ...(parent === undefined ? {} : { parent }),
    },
    () =>
      new Promise<void>((resolve) => {
        const carryOn = AsyncLocalStorage.snapshot();
        reply.raw.once('close', () => resolve());
        carryOn(done);
      }),
  );
  detach(span);
};

/** 404 and 405, before the body is read. */
export const addUnknownRouteHook = (server: HttpServer, routes: RouteTable): void => {
  server.addHook('onRoute', ({ path, method, config }) => routes.add(path, method, config?.rules));
  server.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404) return done();
    const methods = routes.methodsOf(pathOf(request));
    if (methods.length === 0) return done(hasBrokenPath(request.raw) ? brokenPath() : unknownRoute());
    const message = `This path accepts ${methods.join(', ')}.`;
    return done(new HttpRefusal(405, 'method_not_allowed', message, {}, { allow: methods.join(', ') }));
  });
};

/** Runs after authentication: checks the request line, then the ids in it. */
export const addRequestLineHook = (server: HttpServer): void => {
  server.addHook('onRequest', (request, reply, done) => {
    const refusal = hostRefusal(request.raw);
    if (refusal !== undefined) return done(refusal);
    const framing = framingProblem(request.raw);
    if (framing !== undefined) {
      reply.raw.shouldKeepAlive = false;
      return done(unfitRequest(framing));
    }
    if (hasBrokenPath(request.raw)) return done(brokenPath());
    const missing = unreachableResource(request);
    if (missing !== undefined) return done(missing.notFound());
    if (!hasReadableQuery(request.url)) {
      return done(
        invalidRequest([{ path: 'query', message: 'The query contains invalid percent-encoding.' }]),
      );
    }
    // The type matters only if there is a body, and our parser reports an unsupported one.
    request.declaredType = request.headers['content-type'];
    if (isStreamed(request.routeOptions.config.rules)) {
      request.raw.headers['content-type'] = STREAMED_TYPE;
    } else {
      delete request.raw.headers['content-type'];
    }
    return done();
  });
};

const brokenPath = (): HttpRefusal =>
  invalidRequest([{ path: 'path', message: 'The path contains invalid percent-encoding.' }]);

/** Content type given to a body that Fastify must not parse. */
export const STREAMED_TYPE = 'application/x-streamed';

/** The first resource of the path whose id is malformed or which the principal must not see. */
const unreachableResource = (request: FastifyRequest): RouteResource | undefined => {
  const { principal } = request;
  const params = paramsOf(request);
  return request.routeOptions.config.rules?.resources.find(({ param, isId, isReachable }) => {
    const id = params[param] ?? '';
    return !isId(id) || (principal !== null && isReachable?.(principal, id) === false);
  });
};

const hasReadableQuery = (url: string): boolean => {
  const start = url.indexOf('?');
  return start === -1 || isDecodable(url.slice(start + 1));
};

/** Runs last: the handler is next. */
export const addBeginHook = (server: HttpServer): void => {
  server.addHook('preHandler', (request, _reply, done) => {
    request.hasBegun = true;
    done();
  });
};

/** Every response that goes through Fastify, errors included, carries the fixed headers. */
export const addFixedHeadersHook = (server: HttpServer, draining: AbortSignal): void => {
  server.addHook('onSend', (request, reply, _payload, done) => {
    setFixedHeaders(request, reply);
    if (draining.aborted) reply.header('connection', 'close');
    done();
  });
};
