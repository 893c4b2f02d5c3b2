import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoxedGuest } from '../agent/boxed-guest.js';

type Script = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server on a unix socket that says what a test wants a guest to say, and a guest in a box around it. */
export class ScriptedGuest {
  readonly asked: string[] = [];
  readonly guest: BoxedGuest;
  readonly #gone = Promise.withResolvers<void>();
  readonly #script = new Map<string, Script>();
  readonly #onArrival = new Map<string, Script>();
  #server: Server | undefined;

  constructor(readonly dir = mkdtempSync(join(tmpdir(), 'berth-scripted-'))) {
    this.guest = new BoxedGuest(
      {
        agentId: 'agt_scripted',
        socket: join(dir, 'guest.sock'),
        inside: { volume: '', tmp: '', template: '', path: '', storage: { volume: '', staging: '' } },
        runAs: null,
        record: null,
        gone: this.#gone.promise,
      },
      { guest: { version: '1.1.0', capabilities: ['exec.detached'] } },
    );
  }

  /** Listens, and counts as awake. */
  async open(): Promise<this> {
    await this.listen(join(this.dir, 'guest.sock'));
    this.guest.wake({
      idleTtlSeconds: 0,
      onIdle: () => undefined,
      onActivity: () => undefined,
      onEvent: () => undefined,
    });
    return this;
  }

  async listen(socket: string): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response)).listen(socket);
    await once(this.#server, 'listening');
  }

  /** Takes the place of a guest that listens there already: new connections come here. */
  async replace(socket: string): Promise<void> {
    const ours = `${socket}.scripted`;
    await this.listen(ours);
    renameSync(ours, socket);
  }

  /** What it does when it is asked for that path. Whatever has no script is never answered. */
  on(path: string, script: Script): this {
    this.#script.set(path, script);
    return this;
  }

  /** As `on`, but before the body is read, which is left to the script. */
  onArrival(path: string, script: Script): this {
    this.#onArrival.set(path, script);
    return this;
  }

  onUpgrade(script: (request: IncomingMessage, socket: import('node:stream').Duplex) => void): this {
    this.#server?.on('upgrade', script);
    return this;
  }

  /** How often that path was asked for. */
  times(path: string): number {
    return this.asked.filter((one) => one === path).length;
  }

  /** Nobody listens any more. */
  hangUp(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async close(): Promise<void> {
    this.hangUp();
    await this.guest.close(true);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://guest').pathname;
    this.asked.push(path);
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

/** Answers with JSON. */
export const says =
  (body: unknown, status = 200): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

/** Refuses as a guest does. */
export const refuses = (kind: string, code: string, context: object = {}): Script =>
  says({ error: { kind, code, message: 'No.', context } }, 422);

/** Takes the request and closes the connection without a word. */
export const breaksOff: Script = (request) => void request.socket.destroy();
