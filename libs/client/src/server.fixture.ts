import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Berth, type BerthOptions } from './index.js';

/** The key of the clients of `TestServer`. */
export const KEY = 'mk_0123456789secret';

/** A request that the server received. */
export interface Received {
  readonly method: string;
  /** As it was sent, with its query. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Answer = (request: Received, response: ServerResponse) => unknown;

/** A server on a real socket that records what it receives. */
export class TestServer {
  readonly received: Received[] = [];
  /** Called with each request once its body is there. */
  answer: Answer = (_, response) => json(response, 200, {});
  /** Called before the body is read, if set. If it returns true, it reads and answers itself. */
  onRequest: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.take(request, response));
  }

  static async start(): Promise<TestServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TestServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  client(options: BerthOptions = {}): Berth {
    return new Berth({ apiKey: KEY, baseUrl: this.url, ...options });
  }

  /** Answers one request after the other, the last answer to all that follow. */
  answers(...answers: readonly Answer[]): void {
    let index = 0;
    this.answer = (request, response) => answers[Math.min(index++, answers.length - 1)]?.(request, response);
  }

  reset(): void {
    this.received.length = 0;
    this.answer = (_, response) => json(response, 200, {});
    this.onRequest = undefined;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.onRequest?.(request, response) === true) return;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const url = new URL(request.url ?? '', this.url);
    const received = {
      method: request.method ?? '',
      target: request.url ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks),
    };
    this.received.push(received);
    await this.answer(received, response);
  }
}

/** Ends a response with JSON. */
export const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** A refusal of the service. */
export const refusal =
  (status: number, detail: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) =>
    json(response, status, { detail }, headers);

/** A refusal that may be repeated at once. */
export const atOnce = (status: number, code = 'service_unavailable'): Answer =>
  refusal(status, { code, message: 'Try again.' }, { 'retry-after': '0' });

/** An answer with a JSON body. */
export const ok =
  (body: unknown, status = 200): Answer =>
  (_, response) =>
    json(response, status, body);

/** Breaks the connection. */
export const broken: Answer = (_, response) => response.destroy();

/** What a promise rejects with. */
export const rejection = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It was fulfilled.');
};
