import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { formatKey } from '@berth/contracts/accounts';
import { onTestFinished } from 'vitest';
import { run } from './run.js';

export const KEY = formatKey(new Uint8Array(32).fill(7));
export const OTHER_KEY = formatKey(new Uint8Array(32).fill(8));

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  /** The text of a file; of everything else the value of its JSON. */
  readonly body: unknown;
}

export interface ServiceResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A real HTTP server that returns the responses of the test and records the requests it receives. */
class Service {
  readonly seen: RecordedRequest[] = [];
  private readonly server: Server;

  constructor(respond: (seen: RecordedRequest) => ServiceResponse) {
    this.server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const { method = '', url = '', headers } = request;
        const seen = { method, url, authorization: headers.authorization, body };
        this.seen.push(seen);
        const { status, body: out, headers: extra } = respond(seen);
        response.writeHead(status, { 'content-type': 'application/json', ...extra });
        response.end(isRaw(out) ? out : JSON.stringify(out));
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  if (request.headers['content-type'] === 'application/octet-stream') return text;
  return text === '' ? undefined : JSON.parse(text);
};

const isRaw = (body: unknown): body is string | Buffer | undefined =>
  body === undefined || typeof body === 'string' || Buffer.isBuffer(body);

export const collect = ({ isTTY = false, input }: { isTTY?: boolean; input?: string } = {}) => {
  const text = { out: '', err: '' };
  return {
    text,
    terminal: {
      out: { write: (chunk: string | Uint8Array) => (text.out += textOf(chunk)), isTTY },
      err: { write: (chunk: string | Uint8Array) => (text.err += textOf(chunk)), isTTY, columns: 100 },
      ...(input === undefined ? {} : { input: Readable.from([Buffer.from(input)]) }),
    },
  };
};

const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();

/** A data folder that is removed after the test. */
export const dataFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-cli-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Runs the command against a service with these responses; a key is set unless `env` overrides it. */
export const berth = async (
  argv: string[],
  options: {
    respond?: (seen: RecordedRequest) => ServiceResponse;
    env?: object;
    isTTY?: boolean;
    input?: string;
  } = {},
) => {
  const service = new Service(options.respond ?? (() => ({ status: 500 })));
  const url = await service.start();
  onTestFinished(() => service.stop());
  const { text, terminal } = collect(options);
  const env = { BERTH_URL: `${url}/`, BERTH_API_KEY: KEY, BERTH_DATA: await dataFolder(), ...options.env };
  const exitCode = await run(argv, env, terminal);
  return { exitCode, ...text, seen: service.seen };
};
