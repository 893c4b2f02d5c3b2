import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import {
  GUEST_LIMITS,
  GUEST_ROUTES,
  type DeliverToProgram,
  type GuestEvents,
  type GuestHealth,
  type GuestRoute,
  type ProgramAnswer,
  type PutEnv,
  type PutProgram,
} from '@berth/guest-protocol';
import { Agent, request } from 'undici';
import { guestUnreachable, readEvents, readHealth, readProgramAnswer, readRefusal } from './guest-answers.js';

/** The longest path of a socket that the kernel takes, in bytes, its closing NUL included. */
const SOCKET_PATH_BYTES = 108;
const HEALTH_WITHIN_MS = 2_000;
/** What an answer may take beyond the time the guest itself was given. */
const SLACK_MS = 2_000;

/** Speaks to one guest over its socket. Errors: unavailable `guest_unreachable`, and what the guest itself refuses. */
export class GuestClient {
  readonly #connections: Agent;
  readonly #folder: number | undefined;

  constructor(socket: string) {
    // A folder that is open has a short name as well.
    this.#folder =
      Buffer.byteLength(socket) >= SOCKET_PATH_BYTES
        ? openSync(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY)
        : undefined;
    const socketPath =
      this.#folder === undefined ? socket : `/proc/self/fd/${this.#folder}/${basename(socket)}`;
    this.#connections = new Agent({ connect: { socketPath }, headersTimeout: 0, bodyTimeout: 0 });
  }

  async health(): Promise<GuestHealth> {
    return readHealth(await this.#ask(GUEST_ROUTES.health, undefined, AbortSignal.timeout(HEALTH_WITHIN_MS)));
  }

  async putProgram(program: PutProgram, signal: AbortSignal): Promise<GuestHealth> {
    const limit = AbortSignal.timeout(program.readyWithinMs + SLACK_MS);
    return readHealth(await this.#ask(GUEST_ROUTES.program, program, AbortSignal.any([signal, limit])));
  }

  async putEnv(change: PutEnv, signal: AbortSignal): Promise<GuestHealth> {
    return readHealth(await this.#ask(GUEST_ROUTES.env, change, signal));
  }

  async deliver(message: DeliverToProgram, signal: AbortSignal): Promise<ProgramAnswer> {
    const limit = AbortSignal.timeout(GUEST_LIMITS.chatMs + SLACK_MS);
    return readProgramAnswer(
      await this.#ask(GUEST_ROUTES.deliver, message, AbortSignal.any([signal, limit])),
    );
  }

  async events(after: number, signal: AbortSignal): Promise<GuestEvents> {
    const waitMs = GUEST_LIMITS.eventsWaitMs;
    const limit = AbortSignal.timeout(waitMs + SLACK_MS);
    const query = `?after=${after}&waitMs=${waitMs}`;
    return readEvents(
      await this.#ask(GUEST_ROUTES.events, undefined, AbortSignal.any([signal, limit]), query),
    );
  }

  async shutDown(graceMs: number): Promise<void> {
    await this.#ask(GUEST_ROUTES.shutdown, { graceMs }, AbortSignal.timeout(graceMs + SLACK_MS / 4));
  }

  /** Gives up every open request. */
  async close(): Promise<void> {
    await this.#connections.destroy();
    if (this.#folder !== undefined) closeSync(this.#folder);
  }

  async #ask(route: GuestRoute, body: unknown, signal: AbortSignal, query = ''): Promise<unknown> {
    const { status, json } = await this.#exchange(route, body, signal, query).catch((error: unknown) => {
      throw guestUnreachable(error);
    });
    if (status !== 200) throw readRefusal(json);
    return json;
  }

  async #exchange(
    route: GuestRoute,
    body: unknown,
    signal: AbortSignal,
    query: string,
  ): Promise<{ status: number; json: unknown }> {
    const { statusCode, body: stream } = await request(`http://guest${route.path}${query}`, {
      dispatcher: this.#connections,
      method: route.method,
      signal,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > GUEST_LIMITS.answerBytes) throw new Error('The guest says more than it may.');
      chunks.push(chunk);
    }
    return { status: statusCode, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  }
}
