import { request as requestGuest, type IncomingMessage } from 'node:http';
import { isDomainError } from '@berth/kernel';
import {
  eachHeader,
  hasBody,
  relayHttp,
  UnfitRequest,
  type FieldList,
  type HttpExchange,
} from '@berth/sockets';
import { guestUnreachable, readRefusal } from '../guest/guest-responses.js';
import { readBoundedJson } from '../guest/guest-socket.js';
import { checkResponse, type GuestExchange } from './guest-exchange.js';
import { wrongRequest } from './transfer-refusals.js';

/** Maximum number of bytes buffered between two sockets. */
export const BUFFERED_BYTES = 256 * 1024;
const REFUSED = 422;

/** Where an exchange goes. */
export interface GuestSide {
  /** Path of the guest's socket. */
  readonly socketPath: string;
  /** Aborts when the agent is frozen or ended. */
  readonly cut: AbortSignal;
}

/**
 * Forwards a request to a guest and its response back. Resolves when the exchange is over. Rejects only before the first
 * byte of the response: with the guest's own error, invalid `invalid_request` or unavailable `guest_unreachable`.
 */
export const relayExchange = async (
  rules: GuestExchange,
  exchange: HttpExchange,
  { socketPath, cut }: GuestSide,
): Promise<void> => {
  const { request } = exchange;
  if (hasBody(request) && !rules.takesBody) throw wrongRequest();
  try {
    await relayHttp(exchange, {
      requestFields: (fields) => picked(fields, rules.passedOn),
      added: ['Host', 'guest'],
      send: ({ method, headers }) =>
        requestGuest({ socketPath, path: rules.target, method, headers, agent: false }),
      responseHeaders: (received) => headersFor(rules, received, request.method !== 'HEAD'),
      responseTrailers: () => [],
      cut,
      idleMs: rules.idleMs,
      outlivesCaller: rules.outlivesCaller,
    });
  } catch (error) {
    if (error instanceof UnfitRequest) throw wrongRequest();
    throw isDomainError(error) ? error : guestUnreachable(error);
  }
};

const headersFor = async (
  rules: GuestExchange,
  received: IncomingMessage,
  hasContent: boolean,
): Promise<FieldList> => {
  const status = received.statusCode ?? 0;
  if (status === REFUSED) throw await readRefusalOf(received);
  const withBody = hasContent && status !== 304 && status !== 416;
  const headers = checkResponse(rules.response, status, received.headers, withBody);
  if (headers === undefined) throw guestUnreachable();
  return Object.entries(headers).flat();
};

/** Parses the error in a guest's response. */
export const readRefusalOf = async (guestResponse: IncomingMessage): Promise<Error> => {
  try {
    return readRefusal(await readBoundedJson(guestResponse));
  } catch (error) {
    return guestUnreachable(error);
  }
};

const picked = (fields: FieldList, names: readonly string[]): FieldList =>
  [...eachHeader(fields)].filter(([name]) => names.includes(name.toLowerCase())).flat();
