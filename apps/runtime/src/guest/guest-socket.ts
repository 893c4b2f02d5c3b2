import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import {
  BEGIN_BEFORE_HEADER,
  BEGIN_WITHIN_MS,
  CLOCK_HEADER,
  GUEST_LIMITS,
  monotonicNow,
  TOO_LATE_CODE,
  type GuestRoute,
} from '@berth/guest-protocol';
import { isDomainError } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Agent, request as undiciRequest } from 'undici';
import { guestUnreachable, readRefusal } from './guest-responses.js';

/** Maximum length of a socket path in bytes, including the terminating NUL. */
const SOCKET_PATH_BYTES = 108;

/** One request to a guest. */
export interface GuestRequest {
  readonly route: GuestRoute;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
  /** The request begins some work: a guest that reads it too late rejects it. */
  readonly begins?: boolean;
}

/** Limit of retries for a guest that is suspended repeatedly. */
const MAX_TOO_LATE = 20;

/** HTTP connection to one guest. */
export class GuestSocket {
  /** Shortened to fit the kernel's limit. */
  readonly path: string;
  readonly #connections: Agent;
  readonly #newConnections: Agent;
  readonly #folder: number | undefined;
  /**
   * A lower bound of (guest's clock − own clock); undefined before the first response, and for guests that do not send
   * their clock.
   */
  #clockOffset: number | undefined;

  constructor(socket: string) {
    // An open folder is also reachable by a short path under /proc.
    this.#folder =
      Buffer.byteLength(socket) >= SOCKET_PATH_BYTES
        ? openSync(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY)
        : undefined;
    this.path = this.#folder === undefined ? socket : `/proc/self/fd/${this.#folder}/${basename(socket)}`;
    const options = { connect: { socketPath: this.path }, headersTimeout: 0, bodyTimeout: 0 };
    this.#connections = new Agent(options);
    this.#newConnections = new Agent({ ...options, pipelining: 0 });
  }

  /** Errors: unavailable `guest_unreachable`, and the guest's own errors. */
  send(request: GuestRequest): Promise<unknown> {
    return this.#send(request, this.#connections);
  }

  /** Like `send`, over a new connection: a request that fails before it was written was certainly not sent. */
  sendOnNewConnection(request: GuestRequest): Promise<unknown> {
    return this.#send(request, this.#newConnections);
  }

  /** Aborts every open request. */
  async close(): Promise<void> {
    await Promise.all([this.#connections.destroy(), this.#newConnections.destroy()]);
    if (this.#folder !== undefined) closeSync(this.#folder);
  }

  async #send(request: GuestRequest, connections: Agent): Promise<unknown> {
    for (let tooLate = 0; ; tooLate++) {
      const { status, json, clock } = await exchange(request, connections, this.#deadline(request)).catch(
        (error: unknown) => {
          throw guestUnreachable(error);
        },
      );
      // Keep the newest bound, not the greatest: a guest with its own kernel may have been paused.
      if (clock !== undefined) this.#clockOffset = clock - monotonicNow();
      if (status === 200) return json;
      const refusal = readRefusal(json);
      // The guest runs again after a suspension; retry if the caller is still waiting.
      const wanted = !request.signal.aborted && requestContext.current()?.caller?.gaveUp !== true;
      if (refusal.code !== TOO_LATE_CODE || !wanted || tooLate >= MAX_TOO_LATE) throw refusal;
    }
  }

  #deadline({ begins = false }: GuestRequest): Readonly<Record<string, string>> {
    if (!begins || this.#clockOffset === undefined) return {};
    const before = monotonicNow() + BEGIN_WITHIN_MS + this.#clockOffset;
    return { [BEGIN_BEFORE_HEADER]: before.toFixed(3) };
  }
}

/** Whether a failed request was certainly never sent: the connection was not established. */
export const neverSent = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') &&
  error.cause instanceof Error &&
  'syscall' in error.cause &&
  error.cause.syscall === 'connect';

/** Path and query of a request. */
export const toTarget = ({ route, query }: Pick<GuestRequest, 'route' | 'query'>): string => {
  const pairs = Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? route.path : `${route.path}?${new URLSearchParams(pairs).toString()}`;
};

const exchange = async (
  request: GuestRequest,
  connections: Agent,
  deadline: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly json: unknown; readonly clock: number | undefined }> => {
  const { route, body, signal } = request;
  const {
    statusCode,
    headers,
    body: stream,
  } = await undiciRequest(`http://guest${toTarget(request)}`, {
    dispatcher: connections,
    method: route.method,
    signal,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...deadline } }),
  });
  const clock = Number(headers[CLOCK_HEADER] ?? Number.NaN);
  return {
    status: statusCode,
    clock: Number.isFinite(clock) ? clock : undefined,
    json: await readBoundedJson(stream as AsyncIterable<Buffer>),
  };
};

/** Reads and parses a guest's response, up to a maximum size. */
export const readBoundedJson = async (stream: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > GUEST_LIMITS.responseBytes) throw new Error('The guest’s response is too large.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
};
