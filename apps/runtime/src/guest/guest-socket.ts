import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { GUEST_LIMITS, type GuestRoute } from '@berth/guest-protocol';
import { isDomainError } from '@berth/kernel';
import { Agent, request } from 'undici';
import { guestUnreachable, readRefusal } from './guest-answers.js';

/** The longest path of a socket that the kernel takes, in bytes, its closing NUL included. */
const SOCKET_PATH_BYTES = 108;

/** One question to a guest. */
export interface Question {
  readonly route: GuestRoute;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
}

/** The way to one guest. */
export class GuestSocket {
  /** Short enough for the kernel. */
  readonly path: string;
  readonly #connections: Agent;
  readonly #onceEach: Agent;
  readonly #folder: number | undefined;

  constructor(socket: string) {
    // A folder that is open has a short name as well.
    this.#folder =
      Buffer.byteLength(socket) >= SOCKET_PATH_BYTES
        ? openSync(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY)
        : undefined;
    this.path = this.#folder === undefined ? socket : `/proc/self/fd/${this.#folder}/${basename(socket)}`;
    const options = { connect: { socketPath: this.path }, headersTimeout: 0, bodyTimeout: 0 };
    this.#connections = new Agent(options);
    this.#onceEach = new Agent({ ...options, pipelining: 0 });
  }

  /** Errors: unavailable `guest_unreachable`, and what the guest itself refuses. */
  ask(question: Question): Promise<unknown> {
    return this.#ask(question, this.#connections);
  }

  /** As `ask`, over a connection of its own: a request that fails before it was written is known never to have left. */
  askOnce(question: Question): Promise<unknown> {
    return this.#ask(question, this.#onceEach);
  }

  /** Gives up every open request. */
  async close(): Promise<void> {
    await Promise.all([this.#connections.destroy(), this.#onceEach.destroy()]);
    if (this.#folder !== undefined) closeSync(this.#folder);
  }

  async #ask(question: Question, connections: Agent): Promise<unknown> {
    const { status, json } = await exchange(question, connections).catch((error: unknown) => {
      throw guestUnreachable(error);
    });
    if (status !== 200) throw readRefusal(json);
    return json;
  }
}

/** Whether a failed question certainly never left: nobody took the connection. */
export const neverSent = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') &&
  error.cause instanceof Error &&
  'syscall' in error.cause &&
  error.cause.syscall === 'connect';

/** Path and query of a question. */
export const toTarget = ({ route, query }: Pick<Question, 'route' | 'query'>): string => {
  const pairs = Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? route.path : `${route.path}?${new URLSearchParams(pairs).toString()}`;
};

const exchange = async (
  question: Question,
  connections: Agent,
): Promise<{ readonly status: number; readonly json: unknown }> => {
  const { route, body, signal } = question;
  const { statusCode, body: stream } = await request(`http://guest${toTarget(question)}`, {
    dispatcher: connections,
    method: route.method,
    signal,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: statusCode, json: await readBoundedJson(stream as AsyncIterable<Buffer>) };
};

/** Reads what a guest says, up to what it may say. */
export const readBoundedJson = async (stream: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > GUEST_LIMITS.answerBytes) throw new Error('The guest says more than it may.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
};
