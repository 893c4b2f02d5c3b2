import type { Duplex } from 'node:stream';

/** Maximum number of bytes that a client may send before the response; more violates the protocol. */
const MOST_EARLY_BYTES = 65_536;

/** A raw socket that waits for its response. */
export interface HeldSocket {
  /** Aborts when the peer has closed, half-closed or reset the connection. */
  readonly gone: AbortSignal;
  /** Stops watching and returns the input so far; the caller continues reading in the same turn of the event loop. */
  take(): Buffer;
}

/**
 * Reads a raw socket while it waits for its response, because only a reader notices the end of a connection. `head` is
 * the input that Node has already read.
 */
export const holdSocket = (socket: Duplex, head: Buffer): HeldSocket => {
  const left = new AbortController();
  const early = [head];
  let bytes = head.length;
  const leave = (): void => left.abort();
  const keep = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MOST_EARLY_BYTES) socket.destroy();
    else early.push(chunk);
  };
  socket.on('data', keep).once('end', leave).once('close', leave);
  if (socket.destroyed || socket.readableEnded) leave();
  return {
    gone: left.signal,
    take: () => {
      socket.off('data', keep).off('end', leave).off('close', leave);
      return Buffer.concat(early);
    },
  };
};
