import { connect, type NetConnectOpts } from 'node:net';

/** What a client received, and the error of its connection. */
export interface LateBodyResult {
  /** The whole response, with its head. */
  readonly text: string;
  readonly error: Error | undefined;
}

const PIECES = 10;

/**
 * Sends the head of a request, and `body` only after the server has sent its response and closed its side, which is the
 * latest moment at which a client can write. `head` must contain `Connection: close`. A server that has closed the
 * whole connection by then makes the writes fail.
 */
export const sendBodyLate = async (
  target: NetConnectOpts,
  head: string,
  body: Uint8Array,
): Promise<LateBodyResult> => {
  const socket = connect({ ...target, allowHalfOpen: true });
  let text = '';
  let error: Error | undefined;
  const ended = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  socket.on('error', (thrown) => (error ??= thrown));
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.once('end', ended.resolve);
  socket.once('close', () => {
    ended.resolve();
    closed.resolve();
  });
  socket.write(head);
  await ended.promise;
  const step = Math.ceil(body.length / PIECES);
  for (let from = 0; from < body.length; from += step) {
    await new Promise((resolve) => socket.write(body.subarray(from, from + step), resolve));
    // The first write to a closed TCP connection succeeds; only the reset that follows makes the next one fail.
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  await closed.promise;
  return { text, error };
};
