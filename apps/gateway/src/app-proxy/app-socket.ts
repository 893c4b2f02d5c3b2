import type { ClientRequest, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { eachHeader, endToEnd, joinSockets, passBack } from '@berth/sockets';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { takeConnection } from '../http/upgrades.js';
import type { AppConnections } from './app-connections.js';
import { publicError, responseRules, sendToApp, type AppExchange } from './app-exchange.js';
import { callersFields, forwardedHeaders } from './request-headers.js';
import { callerHeaders } from './response-headers.js';

/** The program's agreement, its side of the connection and the bytes that followed. */
interface Agreed {
  readonly response: IncomingMessage;
  readonly connection: Duplex;
  readonly head: Buffer;
}

const PROBE_AFTER_MS = 15_000;

/**
 * Passes a WebSocket handshake on to a program and joins both connections; `cut` closes them. Resolves when they are
 * closed, or when the program's refusal is sent. Throws before the first byte of a response only.
 */
export const openAppSocket = async (
  exchange: AppExchange,
  connections: AppConnections,
  {
    request,
    reply,
    gone,
    cut,
  }: {
    readonly request: ApiRequest;
    readonly reply: ApiReply;
    readonly gone: AbortSignal;
    readonly cut: AbortSignal;
  },
): Promise<void> => {
  const upstream = sendToApp(exchange, handshakeOf(exchange), connections.fresh);
  const leave = (): void => void upstream.destroy();
  gone.addEventListener('abort', leave, { once: true });
  upstream.end();
  try {
    if (gone.aborted) leave();
    const answer = await answerOf(upstream).catch((error: unknown) => {
      throw publicError(error);
    });
    if (!('head' in answer)) return await refuse(answer, exchange);
    const { socket, head } = takeConnection(request, reply);
    // A client whose machine has failed must not keep the agent awake.
    if (socket instanceof Socket) socket.setKeepAlive(true, PROBE_AFTER_MS);
    socket.write(agreement(answer.response, exchange));
    if (answer.head.length > 0) socket.write(answer.head);
    if (head.length > 0) answer.connection.write(head);
    await joinSockets(socket, answer.connection, cut);
  } finally {
    gone.removeEventListener('abort', leave);
  }
};

const handshakeOf = ({ request, forwarded }: AppExchange): readonly string[] => [
  ...callersFields(endToEnd(request.rawHeaders)),
  ...forwardedHeaders(request, forwarded),
  'X-Request-Id',
  forwarded.requestId,
  'Connection',
  'Upgrade',
  'Upgrade',
  'websocket',
];

const refuse = (answer: IncomingMessage, exchange: AppExchange): Promise<void> =>
  passBack(answer, exchange, responseRules(exchange)).catch((error: unknown) => {
    throw publicError(error);
  });

const answerOf = (upstream: ClientRequest): Promise<Agreed | IncomingMessage> =>
  new Promise((resolve, reject) => {
    upstream.once('upgrade', (response, connection, head) => resolve({ response, connection, head }));
    upstream.once('response', resolve);
    upstream.once('error', reject);
    upstream.once('close', () => reject(new Error('The app closed the connection.')));
  });

const agreement = (response: IncomingMessage, { forwarded, hostname }: AppExchange): string => {
  const lines = [...eachHeader(callerHeaders(response.rawHeaders, hostname))].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Request-Id: ${forwarded.requestId}\r\n${lines.join('')}\r\n`;
};
