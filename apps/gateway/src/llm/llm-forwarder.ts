import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { eachHeader, HOP_BY_HOP } from '@berth/sockets';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LlmEndpoint } from './llm-endpoint.js';

/** How often a process is looked for: one may have just ended. */
const ATTEMPTS = 2;

/** The process could not be reached, so it has not seen the request. */
const REFUSED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);

/** Passes requests of programs to `llm`, bodies and responses unread. */
@Injectable()
export class LlmForwarder implements OnApplicationShutdown {
  readonly #agent = new Agent({ keepAlive: true, timeout: 30_000 });

  constructor(private readonly endpoint: LlmEndpoint) {}

  onApplicationShutdown(): void {
    this.#agent.destroy();
  }

  /** Resolves when the exchange is over. Throws before the first byte of the response only. */
  async forward(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const received = await this.send(request, response);
    const headers = endToEnd(received);
    if (received.headers['x-request-id'] === undefined) headers.push('x-request-id', requestId);
    response.writeHead(received.statusCode ?? 502, headers);
    response.flushHeaders();
    await pipeline(received, response).catch(() => response.destroy());
  }

  private async send(request: IncomingMessage, response: ServerResponse): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt++) {
      const url = new URL(request.url ?? '/', await this.endpoint.url());
      const onward = httpRequest(url, {
        method: request.method,
        headers: endToEnd(request),
        // A kept connection may end while a request is sent on it; one with a body cannot be sent again.
        agent: request.method === 'GET' ? this.#agent : false,
      });
      // Errors after the response has begun reach its reader.
      onward.on('error', () => undefined);
      response.once('close', () => {
        onward.destroy();
        // Unread, the rest of a body that was refused would block the caller's connection, and its next request on it.
        request.unpipe(onward).resume();
      });
      onward.flushHeaders();
      // Nothing of the body is read before there is a connection.
      onward.once('socket', (socket) => {
        const begin = (): void => void request.pipe(onward);
        if (socket.connecting) socket.once('connect', begin);
        else begin();
      });
      try {
        const [received] = (await once(onward, 'response')) as [IncomingMessage];
        return received;
      } catch (error) {
        this.endpoint.forget();
        const code: unknown = Object(error).code;
        if (attempt === ATTEMPTS || !REFUSED.has(code)) throw error;
      }
    }
  }
}

const endToEnd = ({ rawHeaders }: IncomingMessage): string[] =>
  [...eachHeader(rawHeaders)].filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase())).flat();
