import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Another process already listens on the port, or this process is not allowed to use it. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
}

/**
 * Resolves when this process can listen on TCP `port` at `host`; otherwise throws {@link PortUnavailableError} with the
 * remedy. `variable` sets the port.
 */
export async function assertPortFree(
  port: number,
  host: string = LOOPBACK,
  variable = 'PORT',
): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new PortUnavailableError(`${unavailableReason(code, port, host)} Set ${variable} to another one.`, {
      cause: error,
    });
  }
}

/** Whether this process can listen on `port` at the loopback address right now. */
export async function isFree(port: number): Promise<boolean> {
  return listenOnce(port, LOOPBACK).then(
    () => true,
    () => false,
  );
}

function unavailableReason(code: string, port: number, host: string): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use by another program.`;
  if (code === 'EACCES') return `Port ${port} on ${host} requires privileges that this user does not have.`;
  return `Port ${port} on ${host} cannot be listened on (${code}).`;
}

function listenOnce(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}
