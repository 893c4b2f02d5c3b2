import type { Duplex } from 'node:stream';

/** What a client may send before it is answered; one that sends more has not understood the protocol. */
const MOST_EARLY_BYTES = 65_536;

/** A raw socket that has to wait for its answer. */
export interface HeldSocket {
  /** Aborts when the other side has closed, half-closed or reset. */
  readonly gone: AbortSignal;
  /** Stops the watching and returns what has come so far; the caller reads on in the same turn of the event loop. */
  take(): Buffer;
}

/**
 * Reads a raw socket while it waits for its answer, because the end of a connection shows to its reader only. `head` is what
 * Node has read of it already.
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
