import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { appUnreachable } from './dial-app.js';
import { callerHeaders } from './response-headers.js';

/** The headers that Berth adds to every response. */
export interface CallerFacts {
  readonly requestId: string;
  /** The host name of the app, in lower case. */
  readonly hostname: string;
  /** Whether the connection ends with this response. */
  readonly closing: boolean;
}

/**
 * More responses than programs send before their final one. Unlike the bytes of a body, they are passed on without
 * waiting for a caller who does not read, so that without an end to them they would fill the memory.
 */
const MOST_INFORMATIONAL = 100;

/** The program's final response; informational ones are passed on. Rejects with the error of the request. */
export const responseOf = (
  upstream: ClientRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isModern = request.httpVersion === '1.1';
    let informational = 0;
    upstream.on('information', ({ statusCode, headers }) => {
      informational += 1;
      if (informational > MOST_INFORMATIONAL) return upstream.destroy();
      if (!isModern || response.headersSent) return undefined;
      if (statusCode === 100) response.writeContinue();
      if (statusCode === 103) hint(response, headers['link']);
      return undefined;
    });
    upstream.once('response', resolve);
    // The request did not ask for another protocol.
    upstream.once('upgrade', (_response, connection) => connection.destroy());
    upstream.once('error', reject);
    upstream.once('close', () => reject(appUnreachable()));
  });

/** Node throws on links that it does not understand, here outside of every promise; a response needs no hints. */
const hint = (response: ServerResponse, link: string | readonly string[] | undefined): void => {
  if (link === undefined) return;
  try {
    response.writeEarlyHints({ link: [link].flat() });
  } catch {
    // The final response has the same links, and is sent as it is.
  }
};

/** Sends the program's response to the caller. Throws before the first byte only. */
export const relayResponse = async (
  from: IncomingMessage,
  to: ServerResponse,
  { requestId, hostname, closing }: CallerFacts,
): Promise<void> => {
  const headers = callerHeaders(from.rawHeaders, hostname);
  headers.push('X-Request-Id', requestId);
  if (closing) headers.push('Connection', 'close');
  const hasLength = from.headers['content-length'] !== undefined;
  const mayTrail = !hasLength && to.req.httpVersion === '1.1' && to.req.method !== 'HEAD';
  if (mayTrail && from.headers.trailer !== undefined) headers.push('Trailer', from.headers.trailer);
  try {
    to.writeHead(from.statusCode ?? 0, from.statusMessage, headers);
  } catch (error) {
    from.destroy();
    throw appUnreachable(error);
  }
  // The first event of a stream may come much later.
  if (!hasLength) to.flushHeaders();
  if (mayTrail) from.once('end', () => to.addTrailers(pairs(callerHeaders(from.rawTrailers, hostname))));
  await pipeline(from, to).catch(() => to.destroy());
};

const pairs = (flat: readonly string[]): readonly [string, string][] =>
  flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as [string, string]] : []));
