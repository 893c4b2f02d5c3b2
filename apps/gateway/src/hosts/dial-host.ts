import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { StreamTicket } from '@berth/contracts/exec';
import type { HostConnections } from './host-connections.js';
import { agentUnavailable, publicErrorOf, parseTransferRefusal } from '../http/transfer-refusal.js';

/** Far above the largest frame of a guest. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const HANDSHAKE_WITHIN_MS = 10_000;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Opens the host's side of a socket, paused; gives up when `gone` aborts. Throws the host's error, `TicketLost`, or
 * unavailable `agent_unavailable`.
 */
export const dialHost = async (
  hosts: HostConnections,
  { ticket, ...target }: StreamTicket,
  gone: AbortSignal,
): Promise<WebSocket> => {
  const host = new WebSocket(target.url.replace(/^http/, 'ws'), {
    ...hosts.tlsOf(target),
    headers: { authorization: `Bearer ${ticket}` },
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handshakeTimeout: HANDSHAKE_WITHIN_MS,
  });
  const giveUp = (): void => host.terminate();
  gone.addEventListener('abort', giveUp, { once: true });
  const dialled = new Promise<WebSocket>((resolve, reject) => {
    host.once('open', () => {
      // Paused until the bridge listens, so that no frame is lost.
      host.pause();
      host.off('error', onError);
      resolve(host);
    });
    const onError = (error: Error): void => {
      hosts.noteFailure(target, error);
      reject(agentUnavailable(error));
    };
    host.on('error', onError);
    host.once('unexpected-response', (request, response) => {
      readAll(response)
        .then((text) => reject(publicErrorOf(parseTransferRefusal(text))), onError)
        .finally(() => request.destroy());
    });
    if (gone.aborted) giveUp();
  });
  return dialled.finally(() => gone.removeEventListener('abort', giveUp));
};

const readAll = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_REFUSAL_BYTES) throw new Error('The error body of the host is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
