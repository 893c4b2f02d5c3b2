import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BoxedGuest } from '../agent/boxed-guest.js';
import { GuestClient } from '../guest/guest-client.js';

type Script = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server on a unix socket whose responses a test scripts, wrapped in a guest and a box. */
export class ScriptedGuest {
  readonly requests: string[] = [];
  readonly guest: BoxedGuest;
  readonly #gone = Promise.withResolvers<void>();
  readonly #script = new Map<string, Script>();
  readonly #onArrival = new Map<string, Script>();
  #server: Server | undefined;

  constructor(readonly dir = mkdtempSync(join(tmpdir(), 'berth-scripted-'))) {
    const socket = join(dir, 'guest.sock');
    const api = { wake: () => undefined, rest: () => undefined, close: () => Promise.resolve() };
    this.guest = new BoxedGuest(
      {
        agentId: 'agt_scripted',
        socket,
        inside: { volume: '', tmp: '', code: '', path: '', storage: { volume: '', staging: '' } },
        command: null,
        runAs: null,
        record: null,
        gone: this.#gone.promise,
      },
      { guest: { version: '1.1.0', capabilities: ['exec.detached'] } },
      { client: new GuestClient(socket), api },
    );
  }

  /** Starts listening, and marks the guest as awake. */
  async open(): Promise<this> {
    await this.listen(join(this.dir, 'guest.sock'));
    this.guest.wake({
      idleTtlSeconds: 0,
      onIdle: () => undefined,
      onActivity: () => undefined,
      onCrashLoop: () => undefined,
      onKilled: () => undefined,
    });
    return this;
  }

  async listen(socket: string): Promise<void> {
    this.#server = createServer((request, response) => void this.#respond(request, response)).listen(socket);
    await once(this.#server, 'listening');
  }

  /** Takes over the socket path of a running guest: new connections arrive here. */
  async replace(socket: string): Promise<void> {
    // A Unix socket has a path of at most 107 bytes.
    const ours = join(dirname(socket), 'scripted');
    await this.listen(ours);
    renameSync(ours, socket);
  }

  /** Sets the script for a path. A path without a script never gets a response. */
  on(path: string, script: Script): this {
    this.#script.set(path, script);
    return this;
  }

  /** Like `on`, but runs before the body is read; the script reads it. */
  onArrival(path: string, script: Script): this {
    this.#onArrival.set(path, script);
    return this;
  }

  onUpgrade(script: (request: IncomingMessage, socket: import('node:stream').Duplex) => void): this {
    this.#server?.on('upgrade', script);
    return this;
  }

  /** The number of requests for that path. */
  times(path: string): number {
    return this.requests.filter((one) => one === path).length;
  }

  /** Stops listening. */
  hangUp(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async close(): Promise<void> {
    this.hangUp();
    await this.guest.close(true);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://guest').pathname;
    this.requests.push(path);
    const early = this.#onArrival.get(path);
    if (early !== undefined) return early(request, response, '');
    let body = '';
    try {
      for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) body += chunk;
    } catch {
      return;
    }
    this.#script.get(path)?.(request, response, body);
  }
}

/** Responds with JSON. */
export const respondsWith =
  (body: unknown, status = 200): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

/** Responds with an error, as a guest does. */
export const refuses = (
  kind: string,
  code: string,
  context: object = {},
  effect?: 'none' | 'unknown',
): Script => respondsWith({ error: { kind, code, message: 'No.', context, effect } }, 422);

/** Reads the request and closes the connection without a response. */
export const disconnects: Script = (request) => void request.socket.destroy();
