import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endSocket } from '@berth/sockets';
import type { ApiReply, ApiRequest } from './fastify-types.js';
import { HttpRefusal } from './http-refusal.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly response: ServerResponse;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Other upgrades (h2c, say) are not taken up: such a request is answered as if it had not asked. */
export const wantsWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Sends a request for a WebSocket the way of every other, through all hooks: refusals are ordinary answers, and a handler
 * that wants the connection takes it over.
 */
export const answerUpgrade =
  (handler: Handler) =>
  (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node's types know a connection of an upgrade as a stream; it is the socket.
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.once('finish', () => endSocket(socket));
    upgrades.set(request, { socket, head, response });
    handler(request, response);
  };

/** Refuses, with 426, a request that asked for no WebSocket where there is nothing else. */
export const requireWebSocket = (request: ApiRequest): void => {
  if (upgrades.has(request.raw)) return;
  throw new HttpRefusal(
    426,
    'upgrade_required',
    'This path answers WebSockets only.',
    {},
    {
      upgrade: 'websocket',
    },
  );
};

/** Hands the connection of such a request over; nothing is answered through `reply` any more. */
export const takeConnection = (request: ApiRequest, reply: ApiReply): { socket: Duplex; head: Buffer } => {
  const upgrade = upgrades.get(request.raw);
  if (upgrade === undefined) throw new Error('The request asked for no WebSocket.');
  upgrades.delete(request.raw);
  reply.hijack();
  const { socket, head, response } = upgrade;
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  return { socket, head };
};
