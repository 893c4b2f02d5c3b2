import { request as httpRequest, type Agent, type ClientRequest } from 'node:http';
import { isDomainError } from '@berth/kernel';
import { relayHttp, type FieldList, type HttpExchange, type ResponseRules } from '@berth/sockets';
import { HttpRefusal } from '../http/http-refusal.js';
import { TicketLost } from '../http/transfer-refusal.js';
import type { AppConnections, AppRef, AppRequestArgs } from './app-connections.js';
import { appUnreachable } from './dial-app.js';
import { callersFields, forwardedHeaders, type ForwardedFacts } from './request-headers.js';
import { callerHeaders } from './response-headers.js';

/** A request for a program, and where its response goes. */
export interface AppExchange extends HttpExchange {
  readonly app: AppRef;
  /** Path and query. */
  readonly target: string;
  readonly forwarded: ForwardedFacts;
  /** The host name of the app, in lower case. */
  readonly hostname: string;
  /** Whether the connection ends with this response. */
  readonly closing: boolean;
}

/** A program's headers may be as large as those that common proxies accept. */
const MAX_HEADER_BYTES = 65_536;

/** Sends a request to a program and its response to the caller. Throws before the first byte of the response only. */
export const exchangeWithApp = async (exchange: AppExchange, connections: AppConnections): Promise<void> => {
  try {
    await relayHttp(exchange, {
      ...responseRules(exchange),
      requestFields: callersFields,
      added: forwardedHeaders(exchange.request, exchange.forwarded),
      send: ({ headers, mayReuse }) =>
        sendToApp(exchange, headers, mayReuse ? connections.kept : connections.fresh),
    });
  } catch (error) {
    throw publicError(error);
  }
};

/** What callers see of a program's response. */
export const responseRules = ({ forwarded, hostname, closing }: AppExchange): ResponseRules => ({
  requestId: forwarded.requestId,
  closing,
  responseHeaders: ({ rawHeaders }) => callerHeaders(rawHeaders, hostname),
  responseTrailers: ({ rawTrailers }) => callerHeaders(rawTrailers, hostname),
});

/** Begins a request to a program. */
export const sendToApp = (
  { app, request, target }: Pick<AppExchange, 'app' | 'request' | 'target'>,
  headers: FieldList,
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

/** Errors of the connection itself become 502; those of the ticket and the host have their own. */
export const publicError = (error: unknown): Error =>
  isDomainError(error) || error instanceof HttpRefusal || error instanceof TicketLost
    ? error
    : appUnreachable(error);
