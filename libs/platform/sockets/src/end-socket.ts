import type { Duplex } from 'node:stream';

/** How long the peer has to read the last bytes and close. */
const LINGER_MS = 2_000;
/** How long sending the last bytes may take without `linger`. */
const FLUSH_MS = 1_000;

const ending = new WeakSet<Duplex>();

/** Whether `endSocket` has been called for this socket. */
export const isEnding = (socket: Duplex): boolean => ending.has(socket);

/**
 * Ends a raw connection: writes the last bytes, closes our half, discards further input, and destroys the socket when
 * the peer has closed, or after a bounded wait. Without the wait, destroying a socket with unread input would reset the
 * connection, and a reset can overtake the response. `linger: false` skips the wait and reads no more input.
 */
export const endSocket = (
  socket: Duplex,
  lastBytes: string | Uint8Array = '',
  { linger = true }: { readonly linger?: boolean } = {},
): void => {
  if (ending.has(socket)) return;
  ending.add(socket);
  socket.on('error', () => socket.destroy());
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const cut = setTimeout(() => socket.destroy(), linger ? LINGER_MS : FLUSH_MS);
  socket.once('close', () => clearTimeout(cut));
  if (linger) {
    socket.once('end', () => socket.destroy());
    socket.on('data', () => undefined);
    socket.resume();
    socket.end(lastBytes);
  } else {
    socket.end(lastBytes, () => socket.destroy());
  }
};
