import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { GuardedServer } from '@berth/sockets';

const BOUNDS = { most: 1_000, idleMs: 60_000, stalledMs: 60_000 };

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** In place of the gateway: a server whose responses the test chooses. */
export class FakeApi {
  /** Method and path of each request so far. */
  readonly seen: string[] = [];
  respond: Respond = (_request, response) => void response.end('the API');
  /** The same after each `listen`. */
  url = 'http://127.0.0.1:0';
  readonly #server = new GuardedServer({}, BOUNDS, (server) =>
    server.on('request', (incoming: IncomingMessage, response) => {
      this.seen.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
      this.respond(incoming, response);
    }),
  );

  async listen(): Promise<this> {
    const port = Number(new URL(this.url).port);
    this.url = await this.#server.listen({ host: '127.0.0.1', port, url: undefined });
    return this;
  }

  close(): Promise<void> {
    return this.#server.close();
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

/** Rejects if the connection breaks before the response is complete. */
export const textOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
