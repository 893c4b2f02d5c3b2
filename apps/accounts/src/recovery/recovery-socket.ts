import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import type { MintedKey } from '@berth/contracts/accounts';
import { isDomainError } from '@berth/kernel';
import { openSocketPath, type SocketPath } from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AccountsConfig } from '../config.js';
import { KeyRecovery } from './key-recovery.js';

const MAX_CONNECTIONS = 4;
const TIMEOUT_MS = 10_000;

/**
 * A Unix socket in the data folder, open to the folder's owner only: `POST /keys/recover` mints a key. Access to the
 * folder proves that the caller operates this host.
 */
@Injectable()
export class RecoverySocket implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #served: { readonly server: Server; readonly at: SocketPath } | undefined;

  constructor(
    private readonly recovery: KeyRecovery,
    private readonly config: AccountsConfig,
    private readonly log: Logger,
  ) {}

  /** Logs a warning if the socket cannot be opened; everything else works without it. */
  async onApplicationBootstrap(): Promise<void> {
    const path = this.config.recoverySocket;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const at = await openSocketPath(path);
      try {
        if (await isServed(at.path)) throw new Error('Another process serves it.');
        this.#served = { server: await this.listen(at.path), at };
      } catch (error) {
        await at.release();
        throw error;
      }
    } catch (error) {
      this.log.warn({ err: error, path }, '`berth keys recover` does not work on this host');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.#served === undefined) return;
    const { server, at } = this.#served;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await rm(this.config.recoverySocket, { force: true });
    await at.release();
  }

  private async listen(path: string): Promise<Server> {
    // A process that was killed leaves its socket behind.
    await rm(path, { force: true });
    const server = createServer({ requestTimeout: TIMEOUT_MS }, (request, response) => {
      void respond(request, response, () => this.recovery.recover(), this.log);
    });
    server.maxConnections = MAX_CONNECTIONS;
    server.setTimeout(TIMEOUT_MS);
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o600);
    return server;
  }
}

const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const respond = async (
  request: IncomingMessage,
  response: ServerResponse,
  recover: () => Promise<MintedKey>,
  log: Logger,
): Promise<void> => {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  request.resume();
  if (request.method !== 'POST' || request.url !== '/keys/recover')
    return send(404, { detail: { code: 'not_found', message: 'Send POST /keys/recover.' } });
  try {
    const minted = await recover();
    log.warn({ keyId: minted.id, accountId: minted.accountId }, 'a key was recovered on this host');
    return send(201, minted);
  } catch (error) {
    log.error({ err: error }, 'a key could not be recovered');
    return isDomainError(error)
      ? send(503, { detail: { code: error.code, message: error.message } })
      : send(500, { detail: { code: 'internal_error', message: 'See the log of the service.' } });
  }
};
