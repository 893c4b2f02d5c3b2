import type { Duplex } from 'node:stream';

/** How long the last bytes may take after the peer got the end of the stream. */
const LINGER_MS = 1_000;

/**
 * Copies bytes between a caller and a server at the pace of the slower side. When one side ends, the bytes that it has
 * sent still reach the other, which is then closed; an error or an abort of `cut` closes both at once. Resolves when
 * both are closed.
 */
export const joinSockets = async (caller: Duplex, server: Duplex, cut?: AbortSignal): Promise<void> => {
  const destroyBoth = (): void => {
    caller.destroy();
    server.destroy();
  };
  const over = Promise.all([closed(caller), closed(server)]);
  for (const [one, other] of [
    [caller, server],
    [server, caller],
  ] as const) {
    one.on('error', destroyBoth);
    // A socket that closes without having ended was reset or destroyed.
    one.once('close', () => (one.readableEnded ? lingerOf(other) : other.destroy()));
    // Until all bytes are written, only the other side's pace counts; the guard of its server bounds that.
    one.once('finish', () => lingerOf(one));
    one.pipe(other);
  }
  cut?.addEventListener('abort', destroyBoth, { once: true });
  if (cut?.aborted === true || caller.destroyed || server.destroyed) destroyBoth();
  await over;
  cut?.removeEventListener('abort', destroyBoth);
};

const lingerOf = (socket: Duplex): void => {
  if (socket.destroyed) return;
  if (!socket.writableFinished) {
    socket.once('finish', () => lingerOf(socket));
    return;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};

const closed = (socket: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
