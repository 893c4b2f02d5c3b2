import type { Duplex } from 'node:stream';

/** The internal property with the bytes that the system has not accepted yet; Node's socket time-outs use it too. */
interface WritingSocket extends Duplex {
  readonly bytesWritten?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** Returns a value that changes whenever the peer accepts more of the written bytes. */
export const sentOf = (socket: Duplex): string => {
  const { bytesWritten = 0, writableLength, _handle } = socket as WritingSocket;
  return `${bytesWritten - writableLength}:${_handle?.writeQueueSize ?? 0}`;
};
