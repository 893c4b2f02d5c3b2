import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that connections are assigned, and below those that the embedded servers choose for themselves. */
const FIRST = 10_000;
const LAST = 19_999;
const ATTEMPTS = 1_000;

/**
 * Returns a port of 127.0.0.1 on which no program listens. No connection is assigned it later, and no other caller gets it
 * while this process runs, however long the server that is to use it takes to start.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`None of ${ATTEMPTS} ports from ${FIRST} to ${LAST} is free.`);
};

/** Holds the UDP port of the same number, which nothing else uses, until this process ends. */
const reserve = async (port: number): Promise<boolean> => {
  const held = createSocket('udp4').unref();
  try {
    held.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(held, 'listening');
    return true;
  } catch {
    held.close();
    return false;
  }
};

const isFree = async (port: number): Promise<boolean> => {
  const probe = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
};
