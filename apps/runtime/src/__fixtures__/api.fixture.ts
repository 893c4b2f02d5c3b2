import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Stands in for the gateway: a server of which a test decides what it responds. */
export class FakeApi {
  /** Method and path of each request so far. */
  readonly seen: string[] = [];
  respond: Respond = (_request, response) => void response.end('the API');
  readonly #server: Server;
  #port = 0;

  constructor() {
    this.#server = createServer((incoming, response) => {
      this.seen.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
      this.respond(incoming, response);
    });
  }

  /** The same after each `listen`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** A response whose body has not been read yet. */
export interface BegunResponse {
  readonly status: number;
  readonly body: IncomingMessage;
}

/** Sends a request to a Unix socket, on a connection of its own. Errors: those of the connection. */
export const askSocket = async (
  socketPath: string,
  path: string,
  {
    body = '',
    ...init
  }: { body?: string; method?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<BegunResponse> => {
  const sent = request({ ...init, socketPath, path, agent: false }).end(body);
  // A connection may break after the response has begun; the reader of the body learns it.
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return { status: response.statusCode ?? 0, body: response };
};

/** Rejects if the response breaks off. */
export const textOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
