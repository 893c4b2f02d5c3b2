import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { isWellFormedKey } from '@berth/contracts/accounts';
import { WebSocket } from 'ws';
import type { CliConfig } from './config.js';
import { CliError, EXIT } from './cli-error.js';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** Sent as it is, instead of `body`. */
  readonly content?: FileContent;
  /** The type of the response; by default JSON. */
  readonly accept?: string;
  /** Send the request without a key. */
  readonly anonymous?: boolean;
  /** How long the service may take; by default 30 s. */
  readonly withinMs?: number;
}

/** The bytes of a file. Without `size` they are sent in chunks. */
export interface FileContent {
  readonly bytes: ReadableStream<Uint8Array>;
  readonly size?: number;
}

const RESPONSE_WITHIN_MS = 30_000;

/** HTTP client for the service. Throws every failure as a `CliError` whose message says what to do. */
export class ApiClient {
  constructor(private readonly config: CliConfig) {}

  /** Returns the JSON response body; undefined for an empty response (204). */
  async call<Body>(call: Call): Promise<Body> {
    const text = await this.textOf(await this.exchange(call));
    if (text === '') return undefined as Body;
    const body = parse(text);
    if (body === undefined)
      throw new CliError(EXIT.refused, `${this.config.url} did not return JSON. Is that Berth?`);
    return body as Body;
  }

  /** Returns the response once its status is known; its body is still to be read. */
  async exchange(call: Call): Promise<Response> {
    const headers: Record<string, string> = { accept: call.accept ?? 'application/json' };
    if (call.anonymous !== true) headers['authorization'] = `Bearer ${await this.key()}`;
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    if (call.content !== undefined) {
      headers['content-type'] = 'application/octet-stream';
      if (call.content.size !== undefined) headers['content-length'] = String(call.content.size);
    }
    const response = await this.send(call, headers);
    if (response.ok) return response;
    throw refusal(response, parse(await this.textOf(response)));
  }

  /** Opens a WebSocket, which is paused; `withinMs` is how long the service may take to accept it. */
  async open(path: string, withinMs: number): Promise<WebSocket> {
    const headers = { authorization: `Bearer ${await this.key()}` };
    const url = this.config.url.replace(/^http/, 'ws') + path;
    const socket = new WebSocket(url, { headers, handshakeTimeout: withinMs, perMessageDeflate: false });
    const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
    socket.once('open', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('unexpected-response', (_request, message) => {
      void readText(message).then((text) => {
        const { statusCode = 500, headers: received } = message;
        const requestId = received['x-request-id'];
        const init = {
          status: statusCode,
          headers: requestId === undefined ? {} : { 'x-request-id': String(requestId) },
        };
        reject(refusal(new Response(text, init), parse(text)));
      }, reject);
    });
    socket.once('error', reject);
    return promise.catch((error: unknown) => {
      throw error instanceof CliError ? error : this.unreachable(error);
    });
  }

  private async send(call: Call, headers: Record<string, string>): Promise<Response> {
    try {
      return await fetch(this.config.url + call.path, {
        method: call.method,
        headers,
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        ...(call.content === undefined ? {} : { body: call.content.bytes, duplex: 'half' as const }),
        redirect: 'error',
        signal: AbortSignal.timeout(call.withinMs ?? RESPONSE_WITHIN_MS),
      });
    } catch (error) {
      return this.unreachable(error);
    }
  }

  private textOf(response: Response): Promise<string> {
    return response.text().catch((error: unknown) => this.unreachable(error));
  }

  private unreachable(error: unknown): never {
    throw new CliError(
      EXIT.unavailable,
      `Cannot reach Berth at ${this.config.url} (${reasonOf(error)}). Start it, or set BERTH_URL.`,
      { cause: error },
    );
  }

  private async key(): Promise<string> {
    const { apiKey, keyFile } = this.config;
    const key =
      apiKey ?? (await readFile(keyFile, 'utf8').catch((error: unknown) => noKey(keyFile, error))).trim();
    if (isWellFormedKey(key)) return key;
    const origin = apiKey === undefined ? keyFile : 'BERTH_API_KEY';
    throw new CliError(
      EXIT.usage,
      `${origin} contains no well-formed key. A key begins with mk_ and is 52 characters long.`,
    );
  }
}

const noKey = (file: string, error: unknown): never => {
  throw new CliError(
    EXIT.usage,
    `No key: set BERTH_API_KEY, or BERTH_DATA to the folder with bootstrap-key (${file}: ${reasonOf(error)}).`,
    { cause: error },
  );
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const refusal = (response: Response, body: unknown): CliError => {
  const detail = isRecord(body) ? body['detail'] : undefined;
  const requestId = response.headers.get('x-request-id');
  const message = isRecord(detail)
    ? messageOf(detail)
    : typeof detail === 'string'
      ? detail
      : response.statusText;
  const trailer = requestId === null ? '' : ` [request ${requestId}]`;
  const exitCode = response.status >= 500 || response.status === 429 ? EXIT.unavailable : EXIT.refused;
  return new CliError(exitCode, `${response.status} ${message}${trailer}`);
};

const messageOf = (detail: Record<string, unknown>): string => {
  const { code, message, fields, requiredScope } = detail;
  const parts = [[code, message].filter((part) => typeof part === 'string').join(': ')];
  if (typeof requiredScope === 'string') parts.push(`required scope: ${requiredScope}`);
  if (Array.isArray(fields)) {
    for (const field of fields)
      if (isRecord(field)) parts.push(`${String(field['path'])} ${String(field['message'])}`);
  }
  return parts.join('\n  ');
};

/** `fetch` itself only reports "fetch failed"; the reason is in `cause`. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no response in time';
  const cause = error.cause;
  if (isRecord(cause) && typeof cause['code'] === 'string') return cause['code'];
  if ('code' in error && typeof error.code === 'string') return error.code;
  return cause instanceof Error ? cause.message : error.message;
};
