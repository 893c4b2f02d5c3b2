import type { IncomingMessage } from 'node:http';
import { hasBody } from './http-framing.js';

/** How much of a body that nobody reads is still received. */
export interface UnwantedBounds {
  readonly millis: number;
  readonly bytes: number;
}

const BOUNDS: UnwantedBounds = { millis: 10_000, bytes: 268_435_456 };

/**
 * Receives what is left of a request whose response is already decided, for a limited time: a client that writes before it
 * reads gets the response, and its connection can be used again.
 */
export const discardBody = (request: IncomingMessage, { millis, bytes }: UnwantedBounds = BOUNDS): void => {
  if (!hasBody(request) || request.readableEnded || request.destroyed) return;
  let left = bytes;
  const cut = (): void => void request.socket.destroy();
  const timer = setTimeout(cut, millis);
  const over = (): void => clearTimeout(timer);
  request.once('end', over);
  request.once('close', over);
  request.on('error', over);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.resume();
};
