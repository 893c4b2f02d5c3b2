import { createServer } from 'node:net';
import { join } from 'node:path';
import { readJsonObject, writePrivateFile } from './private-file.js';

/** The only address embedded parts listen on. */
export const LOOPBACK = '127.0.0.1';

/** A port that somebody else already listens on, or that this process may not use. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
}

/** Passes when `port` (TCP) can be listened on at `host`; else throws {@link PortUnavailableError} saying what to do. */
export async function assertPortFree(port: number, host: string = LOOPBACK): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new PortUnavailableError(`${unavailableReason(code, port, host)} Set PORT to another one.`, {
      cause: error,
    });
  }
}

function unavailableReason(code: string, port: number, host: string): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use by another program.`;
  if (code === 'EACCES') return `Port ${port} on ${host} may not be used by this user.`;
  return `Port ${port} on ${host} cannot be listened on (${code}).`;
}

/** The ports of a data folder's parts, kept over restarts so that addresses stay what they were. */
export class PortBook {
  readonly #file: string;
  readonly #ports = new Map<string, number>();

  constructor(folder: string) {
    this.#file = join(folder, 'ports.json');
    for (const [name, port] of Object.entries(readJsonObject(this.#file) ?? {})) {
      if (Number.isInteger(port)) this.#ports.set(name, Number(port));
    }
  }

  /** The port of last time where it is still free, else a new one, remembered from now on. */
  async portFor(name: string): Promise<number> {
    const known = this.#ports.get(name);
    if (known !== undefined && (await isFree(known))) return known;
    const chosen = await this.#chooseUnused();
    this.#ports.set(name, chosen);
    writePrivateFile(this.#file, JSON.stringify(Object.fromEntries(this.#ports)));
    return chosen;
  }

  async #chooseUnused(): Promise<number> {
    const taken = new Set(this.#ports.values());
    for (;;) {
      const port = await listenOnce(0, LOOPBACK);
      if (!taken.has(port)) return port;
    }
  }
}

/** Whether `port` can be listened on at the loopback address right now. */
export async function isFree(port: number): Promise<boolean> {
  return listenOnce(port, LOOPBACK).then(
    () => true,
    () => false,
  );
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
