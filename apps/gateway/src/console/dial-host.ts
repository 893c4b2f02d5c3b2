import type { IncomingMessage } from 'node:http';
import { DomainError } from '@berth/kernel';
import { WebSocket } from 'ws';
import { readHostRefusal } from '../http/host-refusal.js';

/** What a guest sends in one frame is far below. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const HANDSHAKE_WITHIN_MS = 10_000;
const LONGEST_REFUSAL = 64 * 1024;

/** Opens the agent's side of a console, paused. Throws what the host refuses with, or unavailable `agent_unavailable`. */
export const dialHost = (url: string, ticket: string): Promise<WebSocket> => {
  const host = new WebSocket(url.replace(/^http/, 'ws'), {
    headers: { authorization: `Bearer ${ticket}` },
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handshakeTimeout: HANDSHAKE_WITHIN_MS,
  });
  return new Promise((resolve, reject) => {
    host.once('open', () => {
      // Nothing the shell says may be lost before somebody listens.
      host.pause();
      host.off('error', onError);
      resolve(host);
    });
    const onError = (error: Error): void => reject(unreachable(error));
    host.on('error', onError);
    host.once('unexpected-response', (request, response) => {
      readAll(response)
        .then((text) => reject(readHostRefusal(text)), onError)
        .finally(() => request.destroy());
    });
  });
};

const readAll = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LONGEST_REFUSAL) throw new Error('The host says more than it may.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const unreachable = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent cannot be reached; try again.',
    {},
    { cause },
  );
