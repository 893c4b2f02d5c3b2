import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endSocket, isEnding, requestIdOf } from '@berth/sockets';
import { errorResponse } from './error-response.js';
import { FIXED_HEADERS } from './fixed-headers.js';
import { HttpRefusal, invalidRequest } from './http-refusal.js';
import { pendingResponse } from './pending-response.js';

/** The error of Node's HTTP parser; `rawPacket` is the input it failed on. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** Input that Node's HTTP parser rejects never becomes a request, so the response is written to the socket. */
export const rejectBrokenRequest = (error: ParserError, socket: Socket): void => {
  // The parser fails again on each further chunk of input; the response has already been written.
  if (isEnding(socket)) return;
  const current = pendingResponse(socket);
  if (error.code !== 'ECONNRESET' && socket.writable && current?.req.complete === true) {
    // The broken input follows a request without a response yet: a response now would be read as that request's.
    current.shouldKeepAlive = false;
    return;
  }
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true) {
    // In the middle of a response, a second one would be read as part of the first.
    socket.destroy();
    return;
  }
  writeToSocket(socket, refusalOf(error.code), sentRequestId(error.rawPacket));
};

/**
 * Nothing is tunnelled here, and Node gives a CONNECT no response to write to. Earlier requests get their responses
 * first.
 */
export const refuseConnect = (request: IncomingMessage, socket: Duplex): void => {
  const pending = pendingResponse(request.socket);
  if (pending !== undefined) {
    pending.once('close', () => refuseConnect(request, socket));
    // A socket that is not read does not notice a reset.
    socket.resume();
    return;
  }
  const refusal = new HttpRefusal(405, 'method_not_allowed', 'No path accepts CONNECT.', {}, { allow: '' });
  writeToSocket(socket, refusal, request.headers['x-request-id']);
};

/** Responds to a request whose body did not arrive in time, bypassing Fastify, and closes the socket. */
export const rejectTimedOut = (socket: Socket, requestId: string): void => {
  if (!socket.writable || pendingResponse(socket)?.headersSent === true) {
    socket.destroy();
    return;
  }
  // Stops reading: input that arrives now would still be processed after this response.
  writeToSocket(socket, refusalOf('ERR_HTTP_REQUEST_TIMEOUT'), requestId, { linger: false });
};

const writeToSocket = (
  socket: Duplex,
  refusal: HttpRefusal,
  requestId: string | readonly string[] | undefined,
  ending: { readonly linger?: boolean } = {},
): void => {
  const { status, headers, body } = errorResponse(refusal);
  const text = JSON.stringify(body);
  const fields = {
    ...FIXED_HEADERS,
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestIdOf(requestId),
    connection: 'close',
  };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  ];
  endSocket(socket, `${head.join('\r\n')}\r\n\r\n${text}`, ending);
};

const REQUEST_ID_LINE = /\r\nx-request-id:[ \t]*([^\r\n]*?)[ \t]*\r\n/gi;

/** The request id in bytes that were never parsed; undefined if there are several, as any may be the right one. */
const sentRequestId = (packet: unknown): string | undefined => {
  if (!Buffer.isBuffer(packet)) return undefined;
  const found = [...packet.toString('latin1').matchAll(REQUEST_ID_LINE)];
  return found.length === 1 ? found[0]?.[1] : undefined;
};

const refusalOf = (code: string | undefined): HttpRefusal => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpRefusal(
        431,
        'headers_too_large',
        'The request line and headers are larger than 16 KiB.',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpRefusal(408, 'request_timeout', 'The request did not arrive in time.');
    default:
      return invalidRequest([{ path: '', message: 'This is not a valid HTTP/1.1 request.' }]);
  }
};
