import { once } from 'node:events';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Provider } from '../models/model-catalogue.js';
import { CallTiming } from '../route/call-timing.js';
import { isPublic, PrivateAddress, publicLookup } from './public-addresses.js';

const KEPT = { keepAlive: true, keepAliveMsecs: 10_000, maxFreeSockets: 64, timeout: 4_000 };

export interface UpstreamRequest {
  readonly provider: Provider;
  /** Below the base URL: `chat/completions`. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** Ends the request and the response. */
  readonly signal: AbortSignal;
}

/** The upstream has taken the request and sent nothing since. What it bills is unknown. */
export class SilentUpstream extends Error {
  override readonly name = 'SilentUpstream';
}

/** Sends calls to providers. It follows no redirects. */
@Injectable()
export class UpstreamClient implements OnApplicationShutdown {
  readonly #http = new HttpAgent(KEPT);
  readonly #https = new HttpsAgent(KEPT);
  readonly #public = new HttpsAgent({ ...KEPT, lookup: publicLookup });

  constructor(private readonly timing: CallTiming) {}

  onApplicationShutdown(): void {
    for (const agent of [this.#http, this.#https, this.#public]) agent.destroy();
  }

  /** Resolves with the head of the response. Rejects if the connection fails before that; `SilentUpstream`. */
  async send({ provider, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const url = new URL(`${provider.baseUrl}/${path}`);
    const options = {
      method: 'POST',
      headers: { ...headers, ...credentialsOf(provider), 'content-length': Buffer.byteLength(body) },
      agent: this.#agentFor(url, provider),
      signal,
    };
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.setTimeout(this.timing.silentMs, () => request.destroy(new SilentUpstream()));
    // Errors after the response has begun reach its reader.
    request.on('error', () => undefined);
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  #agentFor({ protocol, hostname }: URL, { insecure }: Provider): HttpAgent | HttpsAgent {
    if (insecure) return protocol === 'https:' ? this.#https : this.#http;
    const address = hostname.replace(/^\[|\]$/g, '');
    // An address is not looked up.
    if (protocol !== 'https:' || (isIP(address) !== 0 && !isPublic(address)))
      throw new PrivateAddress('the provider is neither public nor marked as insecure');
    return this.#public;
  }
}

const credentialsOf = ({ dialect, apiKey }: Provider): OutgoingHttpHeaders => {
  if (apiKey === undefined) return {};
  return dialect === 'openai' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
};
