import type { Duplex } from 'node:stream';

/** Node keeps here how much of a write the system has not taken yet; its own socket timeouts look at it. */
interface WritingSocket extends Duplex {
  readonly bytesWritten?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** A mark that changes whenever the other side takes more of what is written to the socket. */
export const sentOf = (socket: Duplex): string => {
  const { bytesWritten = 0, writableLength, _handle } = socket as WritingSocket;
  return `${bytesWritten - writableLength}:${_handle?.writeQueueSize ?? 0}`;
};
