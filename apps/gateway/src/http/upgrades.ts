import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endSocket, hasBody, holdSocket, type HeldSocket } from '@berth/sockets';
import type { ApiReply, ApiRequest } from './fastify-types.js';
import { handshakeRefusal, upgradeRequired } from './handshake.js';
import { pendingResponse } from './pending-response.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Upgrade {
  readonly socket: Duplex;
  readonly held: HeldSocket;
  readonly response: ServerResponse;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

const asksForWebSocket = ({ method, headers, httpVersion }: IncomingMessage): boolean =>
  method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Whether a request gets its own connection. Other upgrades (h2c, say) are ignored, as is any in HTTP/1.0 (RFC 9110
 * §7.8): such a request is handled as a plain one. The same applies to a request with a body, and to one that follows a
 * request whose response is still pending: neither can take over the connection.
 */
export const wantsWebSocket = (request: IncomingMessage): boolean =>
  asksForWebSocket(request) && !hasBody(request) && pendingResponse(request.socket) === undefined;

/**
 * Sends a WebSocket request through all hooks like any other: refusals are ordinary responses, and a handler
 * that wants the connection takes it over.
 */
export const handleUpgrade =
  (handler: Handler) =>
  (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node types the connection of an upgrade as a stream; it is the socket.
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.once('finish', () => endSocket(socket));
    upgrades.set(request, { socket, held: holdSocket(socket, head), response });
    handler(request, response);
  };

/**
 * Refuses a request without a WebSocket handshake with 426, and an invalid one with 400. Returns a signal that aborts
 * when the client leaves before its connection is taken.
 */
export const requireWebSocket = ({ raw }: ApiRequest): AbortSignal => {
  const upgrade = upgrades.get(raw);
  if (upgrade === undefined) {
    throw (
      (asksForWebSocket(raw) ? handshakeRefusal(raw) : undefined) ??
      upgradeRequired('This path accepts WebSocket upgrades only.')
    );
  }
  const refusal = handshakeRefusal(raw);
  if (refusal !== undefined) throw refusal;
  return upgrade.held.gone;
};

/** Whether the request may take over its connection; aborts when the client leaves before. */
export const upgradeOf = (raw: IncomingMessage): AbortSignal | undefined => upgrades.get(raw)?.held.gone;

/** Takes over the connection of such a request; `reply` can send nothing afterwards. */
export const takeConnection = (request: ApiRequest, reply: ApiReply): { socket: Duplex; head: Buffer } => {
  const upgrade = upgrades.get(request.raw);
  if (upgrade === undefined) throw new Error('The request is not a WebSocket upgrade.');
  upgrades.delete(request.raw);
  reply.hijack();
  const { socket, held, response } = upgrade;
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  // Work bound to the request ends on this event, which the detached response no longer emits.
  socket.once('close', () => response.emit('close'));
  return { socket, head: held.take() };
};
