import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { detach } from '@berth/kernel';
import { holdSocket, joinSockets } from '@berth/sockets';
import { guestUnreachable } from '../guest/guest-responses.js';
import { readRefusalOf } from './relay-exchange.js';

/** A connection whose request asked for another protocol. */
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

const PASSED_ON = ['upgrade', 'sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'];
const PASSED_BACK = ['upgrade', 'sec-websocket-accept', 'sec-websocket-protocol'];
const RESPONSE_WITHIN_MS = 10_000;
const REFUSED = 422;
const PROBE_AFTER_MS = 15_000;

/**
 * Opens the guest's side of a protocol for a client and connects both. Resolves when both are closed. Rejects only before the
 * guest has accepted: with the guest's own error or unavailable `guest_unreachable`.
 */
export const relayUpgrade = async (target: string, upgrade: Upgrade): Promise<void> => {
  const { request, client, head, socketPath, cut } = upgrade;
  const guestRequest = httpRequest({
    createConnection: () => connect({ path: socketPath }),
    path: target,
    headers: { host: 'guest', connection: 'Upgrade', ...pick(request, PASSED_ON) },
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
  await joinSockets(client, opened.guest, cut);
};

const open = async (guestRequest: ClientRequest): Promise<Opened> => {
  const opened = Promise.withResolvers<Opened>();
  guestRequest.once('upgrade', (response: IncomingMessage, guest: Duplex, head: Buffer) =>
    opened.resolve({ response, guest, head }),
  );
  guestRequest.once('response', (response) => {
    if (response.statusCode === REFUSED) detach(readRefusalOf(response).then(opened.reject, opened.reject));
    else opened.reject(guestUnreachable());
  });
  guestRequest.on('error', (error) => opened.reject(guestUnreachable(error)));
  guestRequest.end();
  return opened.promise.catch((error: unknown) => {
    guestRequest.destroy();
    throw error;
  });
};

const agreement = (response: IncomingMessage): string => {
  const headers = Object.entries(pick(response, PASSED_BACK)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n${headers.join('')}\r\n`;
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
