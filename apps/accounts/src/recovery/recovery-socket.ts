import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MintedKey } from '@berth/contracts/accounts';
import { detach, isDomainError } from '@berth/kernel';
import { servePrivately, type PrivateServer } from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AccountsConfig } from '../config.js';
import { KeyRecovery } from './key-recovery.js';

/** How often to try again: in a rolling deploy the old process still serves the socket when the new one starts. */
const TRY_AGAIN_MS = 1_000;

/** A Unix socket in the data folder, open to the folder's owner only: `POST /keys/recover` mints a key. */
@Injectable()
export class RecoverySocket implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #served: PrivateServer | undefined;
  #tries = 0;
  #next: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    private readonly recovery: KeyRecovery,
    private readonly config: AccountsConfig,
    private readonly log: Logger,
  ) {}

  /** Logs a warning if the socket cannot be opened, and tries again; everything else works without it. */
  async onApplicationBootstrap(): Promise<void> {
    const path = this.config.recoverySocket;
    try {
      this.#served = await servePrivately(path, (request, response) => {
        detach(respond(request, response, () => this.recovery.recover(), this.log));
      });
    } catch (error) {
      if (this.#tries++ === 0)
        this.log.warn({ err: error, path }, '`berth keys recover` does not work on this host yet');
      if (!this.#stopped)
        this.#next = setTimeout(() => detach(this.onApplicationBootstrap()), TRY_AGAIN_MS).unref();
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#next);
    await this.#served?.close();
  }
}

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
