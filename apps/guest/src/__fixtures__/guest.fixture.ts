import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import {
  decodeLogLine,
  GUEST_ROUTES,
  type Generation,
  type GuestRoute,
  type LogLine,
  type PutProgram,
} from '@berth/guest-protocol';
import { startGuest, type RunningGuest } from '../start-guest.js';

/** A response of the guest. */
export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    error?: { kind: string; code: string; message: string; context: object };
  };
}

/** A guest with its own folders and a real program that a test controls by its messages. */
export class GuestFixture {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-guest-'));
  #guest: RunningGuest | undefined;

  static async open(): Promise<GuestFixture> {
    const fixture = new GuestFixture();
    for (const folder of ['volume', 'staging', 'logs', 'journal', 'tmp'])
      mkdirSync(join(fixture.dir, folder));
    await fixture.restart();
    return fixture;
  }

  get guest(): RunningGuest {
    if (this.#guest === undefined) throw new Error('The guest is not running.');
    return this.#guest;
  }

  /** Ends the guest and opens another on the same folders, without a program. */
  async restart(generation: Generation = 'current'): Promise<void> {
    await this.#guest?.stop(0);
    const { dir } = this;
    this.#guest = await startGuest(
      { socket: join(dir, 'sock'), logs: join(dir, 'logs'), journal: join(dir, 'journal'), generation },
      'mark-1',
    );
  }

  async destroy(): Promise<void> {
    await this.#guest?.stop(0);
    rmSync(this.dir, { recursive: true, force: true });
  }

  ask(route: GuestRoute, body?: unknown, query = ''): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const call = request({
      socketPath: join(this.dir, 'sock'),
      method: route.method,
      path: route.path + query,
      agent: false,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Reply['body'] }),
      );
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  put(changes: Partial<PutProgram> = {}): Promise<Reply> {
    const program: PutProgram = {
      agentId: 'agt_1',
      command: [process.execPath, 'obedient-program.mjs'],
      cwd: import.meta.dirname,
      volume: join(this.dir, 'volume'),
      storage: { volume: join(this.dir, 'volume'), staging: join(this.dir, 'staging') },
      tmp: join(this.dir, 'tmp'),
      path: '/usr/bin:/bin',
      runAs: null,
      env: { GREETING: 'hello', PORT: '1', BERTH_AGENT_ID: 'somebody else' },
      token: 'token-1',
      instructions: 'Be kind.',
      restart: { maxDeaths: 5, windowMs: 60_000, maxEarlyDeaths: 3 },
      readyWithinMs: 10_000,
      ...changes,
    };
    return this.ask(GUEST_ROUTES.program, program);
  }

  deliver(message: string, deliveryId = `dlv_${message}`, conversationId = 'cnv_1'): Promise<Reply> {
    return this.ask(GUEST_ROUTES.deliver, { deliveryId, conversationId, message });
  }

  /** Returns the first bytes that the program sends on a new connection to its HTTP server, or the guest's error code. */
  async getFromApp(path: string): Promise<string> {
    const { method, path: route } = GUEST_ROUTES.app;
    const headers = { connection: 'Upgrade', upgrade: 'tcp' };
    const call = request({ socketPath: join(this.dir, 'sock'), method, path: route, headers, agent: false });
    call.end();
    const answered = once(call, 'response').then(async ([response]: IncomingMessage[]) => {
      const { error } = (await json(response as IncomingMessage)) as Reply['body'];
      return error?.code ?? '';
    });
    const connected = once(call, 'upgrade').then(async ([, socket]) => {
      (socket as Duplex).write(`GET ${path} HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n`);
      return String((await once(socket as Duplex, 'data'))[0]);
    });
    return Promise.race([answered, connected]);
  }

  /** The messages that the program received. */
  seen(): string[] {
    try {
      return readFileSync(join(this.dir, 'volume/seen'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  }

  log(): LogLine[] {
    return readdirSync(join(this.dir, 'logs'))
      .toSorted()
      .flatMap((name) => readFileSync(join(this.dir, 'logs', name), 'utf8').split('\n'))
      .flatMap((line) => decodeLogLine(line) ?? []);
  }
}
