import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Agent } from 'node:http';
import { isDomainError } from '@berth/kernel';
import { eachHeader } from '@berth/sockets';
import { HttpRefusal } from '../http/http-refusal.js';
import { TicketLost } from '../http/transfer-refusal.js';
import type { AppConnections, AppRef, AppRequestArgs } from './app-connections.js';
import { appUnreachable } from './dial-app.js';
import { relayResponse, responseOf, type CallerFacts } from './relay-response.js';
import { programTrailers } from './request-headers.js';

/** A request for a program, and where its response goes. */
export interface AppExchange {
  readonly app: AppRef;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path and query. */
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly facts: CallerFacts;
}

/** A program's headers may be as large as those that common proxies accept. */
const MAX_HEADER_BYTES = 65_536;
/** A request of these methods may be sent again if the connection that it was sent on had just been closed. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Sends a request to a program and its response to the caller. Throws before the first byte of the response only. */
export const exchangeWithApp = async (exchange: AppExchange, connections: AppConnections): Promise<void> => {
  const { request, response } = exchange;
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  const isRepeatable = REPEATABLE.has(request.method ?? '') && !hasBody;
  const attempt = async (agent: Agent): Promise<void> => {
    const upstream = sendToApp(exchange, agent);
    const leave = (): void => void upstream.destroy();
    response.once('close', leave);
    try {
      if (hasBody) sendBody(request, upstream);
      else upstream.end();
      const received = await responseOf(upstream, request, response).catch((error: unknown) => {
        throw upstream.reusedSocket && isRepeatable && !response.destroyed ? new Reset() : publicError(error);
      });
      await relayResponse(received, response, exchange.facts);
    } finally {
      response.off('close', leave);
      if (response.destroyed && !response.writableFinished) leave();
    }
  };
  try {
    await attempt(isRepeatable ? connections.kept : connections.fresh);
  } catch (error) {
    if (!(error instanceof Reset)) throw error;
    await attempt(connections.fresh);
  }
};

/** Begins a request to a program. */
export const sendToApp = (
  { app, request, target, headers }: Pick<AppExchange, 'app' | 'request' | 'target' | 'headers'>,
  agent: Agent,
): ClientRequest => {
  const options: AppRequestArgs = {
    agent,
    app,
    path: target,
    headers,
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(request.method === undefined ? {} : { method: request.method }),
  };
  return httpRequest(options).on('error', () => undefined);
};

/** A kept connection was closed before it brought a response. */
class Reset extends Error {}

const sendBody = (request: IncomingMessage, upstream: ClientRequest): void => {
  // A program may respond and close its connection while the body is still on its way.
  upstream.once('close', () => request.unpipe(upstream));
  request.once('end', () => {
    const pairs = [...eachHeader(programTrailers(request))].map(([name, value]): [string, string] => [
      name,
      value,
    ]);
    if (pairs.length > 0) upstream.addTrailers(pairs);
  });
  // A program may respond before the first byte of the body.
  upstream.flushHeaders();
  request.pipe(upstream);
};

/** Errors of the connection itself become 502; those of the ticket and the host have their own. */
export const publicError = (error: unknown): Error =>
  isDomainError(error) || error instanceof HttpRefusal || error instanceof TicketLost
    ? error
    : appUnreachable(error);
