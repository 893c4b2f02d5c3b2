import type { Duplex } from 'node:stream';

/** How long the other side has to read the last bytes and to close. */
const LINGER_MS = 2_000;
/** How long the last bytes may take to leave where nothing is waited for behind them. */
const FLUSH_MS = 1_000;

const ending = new WeakSet<Duplex>();

/** Whether `endSocket` has been called for it. */
export const isEnding = (socket: Duplex): boolean => ending.has(socket);

/**
 * Ends a raw connection: writes the last bytes, closes our half, discards what still arrives, and destroys the socket when
 * the other side has closed, or after a bounded wait. The wait exists because a socket that is destroyed with unread input
 * resets the connection, and a reset can overtake the answer. `linger: false` leaves it out and takes no more input.
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
