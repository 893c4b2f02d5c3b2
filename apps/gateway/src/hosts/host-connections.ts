import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { dataPortName } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher } from 'undici';
import { GatewayConfig } from '../config.js';
import { agentUnavailable } from '../http/transfer-refusal.js';

const CONNECT_MS = 2_000;
/** Maximum time without a byte of the response; a host that reads or sends is not disconnected. */
const SILENCE_MS = 30_000;

/** A data port of a host, as tickets name it. */
export interface HostTarget {
  readonly url: string;
  readonly host?: string;
}

/** How the certificate of a host is verified. */
export interface HostTls {
  readonly ca: string;
  /** The only name that the certificate may be for. */
  readonly servername: string;
  /** Whatever `NODE_TLS_REJECT_UNAUTHORIZED` says. */
  readonly rejectUnauthorized: true;
}

export type HostRequest = Omit<Dispatcher.RequestOptions, 'origin' | 'path'>;

/**
 * The connections of this gateway to the data ports of hosts: plain, or over TLS with certificates of the private
 * authority. Everything throws unavailable `agent_unavailable` for an `https` URL that cannot be verified.
 */
@Injectable()
export class HostConnections implements OnApplicationShutdown {
  readonly #plain = new HttpAgent({ keepAlive: true });
  /** Its pools are per server name. */
  readonly #secure = new HttpsAgent({ keepAlive: true });
  readonly #plainReads = new Agent(readOptions());
  #secureReads: Agent | undefined;
  #ca: string | undefined;

  constructor(
    @Inject(GatewayConfig) private readonly config: Pick<GatewayConfig, 'dataCa'>,
    private readonly log: Logger,
  ) {}

  /** Options for the TLS connection; undefined for a plain one. */
  tlsOf({ url, host }: HostTarget): HostTls | undefined {
    if (!url.startsWith('https:')) return undefined;
    if (host === undefined) {
      this.log.error({ url }, 'the ticket for an https data port names no host: update all services');
      throw agentUnavailable(new Error('The ticket names no host.'));
    }
    return { ca: this.#authority(host), servername: dataPortName(host), rejectUnauthorized: true };
  }

  /** Starts a request with Node's client, on a connection that is kept unless `options.agent` says otherwise. */
  request(target: HostTarget, options: RequestOptions): ClientRequest {
    const tls = this.tlsOf(target);
    return tls === undefined
      ? httpRequest(target.url, { agent: this.#plain, ...options })
      : httpsRequest(target.url, { agent: this.#secure, ...options, ...tls }).on('error', (error) =>
          this.noteFailure(target, error),
        );
  }

  /** Performs a request with Undici's client, which unlike Node's bounds the time without a byte. */
  async read(target: HostTarget, options: HostRequest): Promise<Dispatcher.ResponseData> {
    const { origin, pathname, search } = new URL(target.url);
    const request = { ...options, origin, path: pathname + search };
    const tls = this.tlsOf(target);
    if (tls === undefined) return this.#plainReads.request(request);
    this.#secureReads ??= new Agent(readOptions(tls.ca));
    // Undici verifies the certificate for this name, and replaces a connection that was verified for another one.
    const headers = { ...options.headers, host: tls.servername };
    try {
      return await this.#secureReads.request({ ...request, headers });
    } catch (error) {
      this.noteFailure(target, error);
      throw error;
    }
  }

  /** Logs why TLS failed, because callers learn only that the agent is unavailable. */
  noteFailure({ host }: HostTarget, error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (REFUSED_CERTIFICATE.test(code))
      this.log.error({ host, code }, 'the certificate of the data port of a host was refused');
    else if (NO_TLS.test(code))
      this.log.error({ host, code }, 'the data port of a host is announced as https, but has no TLS');
  }

  #authority(host: string): string {
    const path = this.config.dataCa;
    // Read when it is needed: the first `berth hosts add` makes it while gateways run.
    try {
      if (path !== undefined) return (this.#ca ??= readAuthority(path));
    } catch (error) {
      this.log.error({ host, err: error }, 'BERTH_DATA_CA cannot be read, so the data port is not used');
      throw agentUnavailable(error);
    }
    this.log.error({ host }, 'the data port of a host is https, but BERTH_DATA_CA is not set');
    throw agentUnavailable(new Error('BERTH_DATA_CA is not set.'));
  }

  async onApplicationShutdown(): Promise<void> {
    this.#plain.destroy();
    this.#secure.destroy();
    await Promise.all([this.#plainReads.destroy(), this.#secureReads?.destroy()]);
  }
}

/** Codes of OpenSSL's verification, and Node's for a certificate of another name. */
const REFUSED_CERTIFICATE = /CERT|SIGNATURE|ISSUER|CRL|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;

/** Codes of a handshake with a server that does not speak TLS, or none in common. */
const NO_TLS = /^EPROTO$|^ERR_SSL_/;

/** Throws unless the file begins with an authority: without one, Node would trust public authorities. */
const readAuthority = (path: string): string => {
  const text = readFileSync(path, 'utf8');
  if (!new X509Certificate(text).ca) throw new Error('Its certificate is not that of an authority.');
  return text;
};

const readOptions = (ca?: string): Agent.Options => ({
  allowH2: false,
  connect: { timeout: CONNECT_MS, ...(ca === undefined ? {} : { ca, rejectUnauthorized: true }) },
  headersTimeout: SILENCE_MS,
  bodyTimeout: SILENCE_MS,
  pipelining: 1,
});
