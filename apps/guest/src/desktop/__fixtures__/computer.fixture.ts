import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { planActions, type PlanOutcome } from '@berth/contracts/computers';
import { GUEST_ROUTES, type GuestRoute, type PutProgram } from '@berth/guest-protocol';
import { GuestFixture, type Reply } from '../../__fixtures__/guest.fixture.js';
import { XConnection, type XDisplay } from '../x11/x-connection.js';
import { ProbeWindow } from './desktop.fixture.js';
import { RfbClient } from './rfb-client.fixture.js';

const SIZE = { width: 1_280, height: 800 };
/** Of the desktop, where the tests may choose one. */
export const DESKTOP_USER = process.getuid?.() === 0 ? { uid: 61_240, gid: 61_240 } : null;

/** A response whose body has come to its end, or was broken off. */
export interface RawReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** null: broken off. */
  readonly body: Buffer | null;
}

/** A request on its way. */
export interface Exchange {
  readonly request: ClientRequest;
  /** Resolves when its response has begun. */
  readonly responded: Promise<unknown>;
  readonly reply: Promise<RawReply>;
}

/** A guest that runs a real desktop, as its host sees it. */
export class ComputerFixture {
  readonly #connections: XConnection[] = [];
  #execution = 0;

  private constructor(readonly guest: GuestFixture) {}

  static async open(changes: Partial<PutProgram> = {}): Promise<ComputerFixture> {
    const guest = await GuestFixture.open();
    if (DESKTOP_USER !== null) {
      process.setgroups?.([]);
      chmodSync(guest.dir, 0o755);
      for (const folder of ['volume', 'tmp'])
        chownSync(join(guest.dir, folder), DESKTOP_USER.uid, DESKTOP_USER.gid);
    }
    const { status, body } = await guest.put({
      command: null,
      desktop: SIZE,
      runAs: DESKTOP_USER,
      env: {},
      readyWithinMs: 20_000,
      ...changes,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return new ComputerFixture(guest);
  }

  get runtimeFolder(): string {
    return join(this.guest.dir, 'tmp/.berth-desktop');
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.guest.destroy();
  }

  /** Runs a command on the desktop to its end, and returns what it wrote. */
  async run(command: string): Promise<string> {
    const { body } = await this.guest.ask(GUEST_ROUTES.execute, {
      executionId: `exe_${++this.#execution}`,
      command,
      cwd: null,
      env: {},
      timeoutMs: 20_000,
      waitMs: 20_000,
    });
    return String(body['stdout']).trim();
  }

  async display(): Promise<XDisplay> {
    const number = (await this.run('echo "$DISPLAY"')).slice(1);
    const authority = readFileSync(join(this.runtimeFolder, 'authority'));
    return { socket: `/tmp/.X11-unix/X${number}`, cookie: authority.subarray(-16) };
  }

  async connect(): Promise<XConnection> {
    const connection = await XConnection.open(await this.display());
    this.#connections.push(connection);
    return connection;
  }

  async window(place: { x: number; y: number; width: number; height: number }): Promise<ProbeWindow> {
    return ProbeWindow.open(await this.connect(), place, 0);
  }

  /** Sends a request whose body is JSON, and returns it with its whole response. */
  send(route: GuestRoute, body?: unknown, query = ''): Exchange {
    const call = request({
      socketPath: join(this.guest.dir, 'sock'),
      method: route.method,
      path: route.path + query,
      agent: false,
    });
    const responded = once(call, 'response') as Promise<[IncomingMessage]>;
    const replied = async (): Promise<RawReply> => {
      const [response] = await responded;
      const { statusCode: status = 0, headers } = response;
      return { status, headers, body: await buffer(response).catch(() => null) };
    };
    const reply = replied();
    reply.catch(() => undefined);
    call.on('error', () => undefined);
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return { request: call, responded, reply };
  }

  /** Sends the plan of a request's body. */
  begin(body: unknown): Exchange {
    return this.send(GUEST_ROUTES.actions, planActions(body, SIZE));
  }

  async act(body: unknown): Promise<PlanOutcome> {
    const { status, body: bytes } = await this.begin(body).reply;
    if (status !== 200 || bytes === null) throw new Error(`${status} ${bytes?.toString() ?? 'broken off'}`);
    return JSON.parse(bytes.toString()) as PlanOutcome;
  }

  /** The error with which a plan is refused. */
  async refusal(body: unknown): Promise<Reply['body']['error']> {
    const { body: bytes } = await this.begin(body).reply;
    return (JSON.parse(String(bytes)) as Reply['body']).error;
  }

  view(sessionId: string, mode: 'view' | 'control', takeover = false): Promise<RfbClient> {
    const query = `session=${sessionId}&mode=${mode}&takeover=${takeover}`;
    return RfbClient.open(`ws+unix://${join(this.guest.dir, 'sock')}:${GUEST_ROUTES.vnc.path}?${query}`);
  }

  closeViewers(sessionIds: readonly string[] | null): Promise<Reply> {
    return this.guest.ask(GUEST_ROUTES.closeViewers, { sessionIds });
  }
}
