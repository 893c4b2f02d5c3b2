import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { openSocketPath, type SocketPath } from './socket-path.js';

const MAX_CONNECTIONS = 4;
const TIMEOUT_MS = 15_000;

/** An HTTP server on a Unix socket. */
export interface PrivateServer {
  /** Ends it and its connections, and removes the socket. */
  close(): Promise<void>;
}

/**
 * Serves HTTP on a Unix socket that only its owner can open, in a folder that it creates (mode 0700) if it is missing.
 * Access to the folder proves that the caller operates this host. Throws if another process serves the socket.
 */
export const servePrivately = async (path: string, handle: RequestListener): Promise<PrivateServer> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const at = await openSocketPath(path);
  try {
    if (await isServed(at.path)) throw new Error('Another process serves it.');
    const server = await listen(at.path, handle);
    return { close: () => close(server, path, at) };
  } catch (error) {
    await at.release();
    throw error;
  }
};

const listen = async (path: string, handle: RequestListener): Promise<Server> => {
  // A process that was killed leaves its socket behind.
  await rm(path, { force: true });
  const server = createServer({ requestTimeout: TIMEOUT_MS }, handle);
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(TIMEOUT_MS);
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
  return server;
};

const close = async (server: Server, path: string, at: SocketPath): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await rm(path, { force: true });
  await at.release();
};

const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
