import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { DomainError, isDomainError } from '@berth/kernel';
import { GUEST_LIMITS, type GuestErrorBody, type GuestRoute } from '@berth/guest-protocol';

/** What a route's handler gets: the body (undefined without one) and the query. */
export interface JsonRequest {
  readonly body: unknown;
  readonly query: URLSearchParams;
}

/** One answered route. A handler's `DomainError` reaches the caller whole; any other error only as `internal`. */
export interface JsonRoute extends GuestRoute {
  readonly handle: (request: JsonRequest) => Promise<unknown>;
}

const STATUS_OF_REFUSAL = 422;

/** A server of JSON routes. It answers whoever can reach its socket: the folder's mode is the access control. */
export const createJsonServer = (routes: readonly JsonRoute[]): Server => {
  const server = createServer((request, response) => {
    answer(routes, request)
      .then((body) => send(response, 200, body))
      .catch((error: unknown) => send(response, STATUS_OF_REFUSAL, toErrorBody(error)));
  });
  // A chat or a question for events may stay open for long; the callers have deadlines of their own.
  server.requestTimeout = 0;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 60_000;
  return server;
};

const answer = async (routes: readonly JsonRoute[], request: IncomingMessage): Promise<unknown> => {
  const url = new URL(request.url ?? '/', 'http://guest');
  const route = routes.find(({ method, path }) => method === request.method && path === url.pathname);
  if (route === undefined)
    throw new DomainError('unsupported', 'guest_route_unknown', 'This guest does not know that.');
  return route.handle({ body: await readJson(request), query: url.searchParams });
};

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > GUEST_LIMITS.requestBytes) {
      throw new DomainError('too_large', 'payload_too_large', 'The request is too large for a guest.');
    }
    chunks.push(chunk);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new DomainError('invalid', 'invalid_request', 'The body is not JSON.');
  }
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  if (response.destroyed) return;
  const text = JSON.stringify(body ?? {});
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
};

const toErrorBody = (error: unknown): GuestErrorBody => {
  if (isDomainError(error)) {
    const { kind, code, message, context } = error;
    return { error: { kind, code, message, context } };
  }
  return {
    error: { kind: 'internal', code: 'guest_failed', message: 'The guest failed to do that.', context: {} },
  };
};
