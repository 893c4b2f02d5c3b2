import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { holdSocket } from '@berth/sockets';
import { guestUnreachable } from '../guest/guest-responses.js';
import { readRefusalOf } from './relay-exchange.js';

/** A connection whose request asked for a WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  /** Bytes already received after the request. */
  readonly head: Buffer;
  /** Path of the guest's socket. */
  readonly socketPath: string;
  /** Aborts when the agent prepares to sleep or ends. */
  readonly cut: AbortSignal;
}

/** The guest's side of the connection, and the bytes it sent after its response. */
interface Opened {
  readonly response: IncomingMessage;
  readonly guest: Duplex;
  readonly head: Buffer;
}

const PASSED_ON = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'];
const PASSED_BACK = ['sec-websocket-accept', 'sec-websocket-protocol'];
const RESPONSE_WITHIN_MS = 10_000;
/** Time for the last bytes to leave once one side has ended. */
const LINGER_MS = 1_000;
const REFUSED = 422;
const PROBE_AFTER_MS = 15_000;

/**
 * Opens the guest's WebSocket for a client and connects both. Resolves when both are closed. Rejects only before the
 * guest has accepted: with the guest's own error or unavailable `guest_unreachable`.
 */
export const relayUpgrade = async (target: string, upgrade: Upgrade): Promise<void> => {
  const { request, client, head, socketPath, cut } = upgrade;
  const guestRequest = httpRequest({
    createConnection: () => connect({ path: socketPath }),
    path: target,
    headers: { host: 'guest', connection: 'Upgrade', upgrade: 'websocket', ...pick(request, PASSED_ON) },
  });
  const giveUp = (): void => void guestRequest.destroy();
  const timer = setTimeout(giveUp, RESPONSE_WITHIN_MS);
  const held = holdSocket(client, head);
  held.gone.addEventListener('abort', giveUp, { once: true });
  cut.addEventListener('abort', giveUp, { once: true });
  let opened: Opened;
  try {
    if (cut.aborted || held.gone.aborted) giveUp();
    opened = await open(guestRequest);
  } finally {
    clearTimeout(timer);
    held.gone.removeEventListener('abort', giveUp);
    cut.removeEventListener('abort', giveUp);
  }
  // A gateway whose machine has failed sends nothing; without keep-alive, its terminal would stay open.
  if (client instanceof Socket) client.setKeepAlive(true, PROBE_AFTER_MS);
  client.write(agreement(opened.response));
  if (opened.head.length > 0) client.write(opened.head);
  const early = held.take();
  if (early.length > 0) opened.guest.write(early);
  await splice(client, opened.guest, cut);
};

const open = async (guestRequest: ClientRequest): Promise<Opened> => {
  const opened = Promise.withResolvers<Opened>();
  guestRequest.once('upgrade', (response: IncomingMessage, guest: Duplex, head: Buffer) =>
    opened.resolve({ response, guest, head }),
  );
  guestRequest.once('response', (response) => {
    if (response.statusCode === REFUSED) void readRefusalOf(response).then(opened.reject);
    else opened.reject(guestUnreachable());
  });
  guestRequest.on('error', (error) => opened.reject(guestUnreachable(error)));
  guestRequest.end();
  return opened.promise.catch((error: unknown) => {
    guestRequest.destroy();
    throw error;
  });
};

/** Copies bytes both ways at the pace of the slower side until either side ends. */
const splice = async (one: Duplex, other: Duplex, cut: AbortSignal): Promise<void> => {
  const over = Promise.withResolvers<void>();
  const sockets = [one, other];
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    over.resolve();
  };
  const linger = (): void => void setTimeout(close, LINGER_MS).unref();
  for (const socket of sockets) {
    socket.on('error', close);
    socket.once('close', close);
    // The pipe ends the other side once the last bytes are written.
    socket.once('end', linger);
  }
  cut.addEventListener('abort', close, { once: true });
  one.pipe(other);
  other.pipe(one);
  if (cut.aborted || one.destroyed || other.destroyed) close();
  await over.promise;
  cut.removeEventListener('abort', close);
};

const agreement = (response: IncomingMessage): string => {
  const headers = Object.entries(pick(response, PASSED_BACK)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${headers.join('')}\r\n`;
};

const pick = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  names: readonly string[],
): { readonly [name: string]: string } => {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
};
