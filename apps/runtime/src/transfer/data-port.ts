import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { detach, DomainError, isDomainError } from '@berth/kernel';
import {
  CONNECTIONS,
  endSocket,
  GuardedServer,
  hasBody,
  onExchange,
  shareOfDescriptors,
  type ConnectionBounds,
  type HttpExchange,
} from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { RuntimeConfig } from '../config.js';
import { isUpgrade, PROTOCOL_OF, toExchange, upgradeTarget } from './guest-exchange.js';
import { BUFFERED_BYTES, relayExchange } from './relay-exchange.js';
import { relayUpgrade } from './relay-upgrade.js';
import { ticketUnknown, wrongRequest } from './transfer-refusals.js';
import { Transfers, type RunningTransfer } from './transfers.js';

const PATH = '/v1/transfer';
const REFUSED = 422;

const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
/** An active transfer may take this long; the relay aborts a stalled one. */
const REQUEST_MS = 3_600_000;
const TIMEOUT_CHECK_MS = 2_000;
/** Gateways keep few connections each, and most descriptors are reserved for agents. */
const BOUNDS: ConnectionBounds = {
  most: shareOfDescriptors(CONNECTIONS.dataPort),
  idleMs: KEEP_ALIVE_MS + HEADERS_MS,
  stalledMs: 120_000,
};

/**
 * HTTP server for transfers between gateways and this host's guests, bypassing the broker. It has one route, authorized
 * by tickets only.
 */
@Injectable()
export class DataPort implements OnModuleInit, BeforeApplicationShutdown {
  readonly #server: GuardedServer;
  #url = '';

  constructor(
    private readonly transfers: Transfers,
    @Inject(RuntimeConfig) private readonly config: Pick<RuntimeConfig, 'dataPort'>,
    private readonly log: Logger,
  ) {
    const options = {
      ...config.dataPort.tls,
      highWaterMark: BUFFERED_BYTES,
      noDelay: true,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    };
    this.#server = new GuardedServer(options, BOUNDS, (server) => {
      onExchange(server, (exchange) => detach(this.#respond(exchange)));
      server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
        detach(this.#upgrade(request, client, head));
      });
    });
  }

  /** Public URL at which tickets are redeemed. */
  get url(): string {
    return this.#url;
  }

  onModuleInit(): Promise<void> {
    return this.listen();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async listen(): Promise<void> {
    this.#url = new URL(PATH, await this.#server.listen(this.config.dataPort)).href;
  }

  async close(): Promise<void> {
    this.transfers.close();
    for (const client of this.#upgraded) client.destroy();
    await this.#server.close();
  }

  readonly #upgraded = new Set<Duplex>();

  async #respond(exchange: HttpExchange): Promise<void> {
    const { response } = exchange;
    try {
      await this.#relay(exchange);
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else refuse(response, this.#toRefusal(error));
    }
  }

  async #relay(http: HttpExchange): Promise<void> {
    const { request } = http;
    const begun = this.#begin(request);
    try {
      const { transfer } = begun;
      if (isUpgrade(transfer)) throw wrongRequest();
      const exchange = toExchange(transfer);
      if (!exchange.methods.includes(request.method ?? '')) throw wrongRequest();
      const { guest, cut } = begun;
      await relayExchange(exchange, http, { socketPath: guest.client.socketPath, cut });
    } catch (error) {
      throw begun.cut.aborted ? begun.cutError() : error;
    } finally {
      begun.release();
    }
  }

  async #upgrade(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#upgraded.add(client);
    client.once('close', () => this.#upgraded.delete(client));
    try {
      const begun = this.#begin(request);
      try {
        const { transfer, guest, cut } = begun;
        const protocol = request.headers.upgrade?.toLowerCase();
        const isAgreed = isUpgrade(transfer) && protocol === PROTOCOL_OF[transfer.kind];
        // The bytes of a body would be read as those of the new protocol.
        if (!isAgreed || request.method !== 'GET' || hasBody(request)) throw wrongRequest();
        const { socketPath } = guest.client;
        await relayUpgrade(upgradeTarget(transfer), { request, client, head, socketPath, cut });
      } catch (error) {
        throw begun.cut.aborted ? begun.cutError() : error;
      } finally {
        begun.release();
      }
    } catch (error) {
      endSocket(client, rawRefusal(this.#toRefusal(error)));
    }
  }

  #begin(request: IncomingMessage): RunningTransfer {
    const ticket = /^Bearer ([\w-]{1,200})$/.exec(request.headers.authorization ?? '')?.[1];
    if (request.url !== PATH || ticket === undefined) throw ticketUnknown();
    return this.transfers.begin(ticket);
  }

  #toRefusal(error: unknown): DomainError {
    if (isDomainError(error)) return error;
    this.log.error({ err: error }, 'a transfer failed');
    return new DomainError('internal', 'internal_error', 'The transfer failed.');
  }
}

const toBody = ({ kind, code, message, context }: DomainError): string =>
  JSON.stringify({ error: { kind, code, message, context } });

const refuse = (response: ServerResponse, error: DomainError): void => {
  const body = toBody(error);
  response.writeHead(REFUSED, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
};

const rawRefusal = (error: DomainError): string => {
  const body = toBody(error);
  return (
    `HTTP/1.1 ${REFUSED} ${STATUS_CODES[REFUSED] ?? ''}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
};
