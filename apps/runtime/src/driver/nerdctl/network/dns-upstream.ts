import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { isResponseTo } from './dns-message.js';
import type { Resolver } from './host-resolvers.js';

/** Asks one resolver by UDP, from a port that only this query uses. Rejects when the signal aborts. */
export const askByUdp = async (
  query: Buffer,
  { address, port }: Resolver,
  signal: AbortSignal,
): Promise<Buffer> => {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  socket.on('error', reject);
  socket.on('message', (message) => {
    if (isResponseTo(query, message)) resolve(message);
  });
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    // A connected socket takes nothing from another sender, and learns that none listens.
    socket.connect(port, address, (error?: Error) => {
      // Without a route to the resolver, for example.
      if (error === undefined) socket.send(query);
      else reject(error);
    });
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.close();
  }
};

/** Asks one resolver by TCP, on a connection of its own. Rejects when the signal aborts. */
export const askByTcp = async (
  query: Buffer,
  { address, port }: Resolver,
  signal: AbortSignal,
): Promise<Buffer> => {
  const socket = connect({ host: address, port, signal });
  try {
    await once(socket, 'connect');
    socket.write(framed(query));
    for await (const message of framesOf(socket)) if (isResponseTo(query, message)) return message;
    throw new Error('The resolver closed the connection.');
  } finally {
    socket.destroy();
  }
};

/** RFC 1035, section 4.2.2: by TCP, the length precedes each message. */
export const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
};

/** The messages that arrive on a connection. */
export async function* framesOf(socket: Socket): AsyncGenerator<Buffer> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      yield received.subarray(2, end);
      received = received.subarray(end);
    }
  }
}
