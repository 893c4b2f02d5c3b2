import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateSync } from 'node:zlib';
import { openDesktop, type Desktop } from '../desktop.js';
import { DesktopSession } from '../session/desktop-session.js';
import { XConnection } from '../x11/x-connection.js';
import { packRequest, u16, u32 } from '../x11/x-packing.js';

/** A real desktop of the tests' own user, what acts on it, and programs on it. */
export class DesktopFixture {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-desktop-'));
  readonly #programs: ChildProcess[] = [];
  readonly #windows: ProbeWindow[] = [];
  #session: DesktopSession | undefined;
  #desktop: Desktop | undefined;

  static async open(size = { width: 1280, height: 800 }): Promise<DesktopFixture> {
    const fixture = new DesktopFixture();
    mkdirSync(join(fixture.dir, 'home'));
    fixture.#session = await DesktopSession.start({
      ...size,
      home: join(fixture.dir, 'home'),
      runtime: join(fixture.dir, 'runtime'),
      path: '/usr/local/bin:/usr/bin:/bin',
      env: {},
      runAs: null,
    });
    fixture.#desktop = await openDesktop(fixture.session.display);
    return fixture;
  }

  get session(): DesktopSession {
    if (this.#session === undefined) throw new Error('The desktop has not started.');
    return this.#session;
  }

  get desktop(): Desktop {
    if (this.#desktop === undefined) throw new Error('The desktop has not started.');
    return this.#desktop;
  }

  start(file: string, ...args: readonly string[]): ChildProcess {
    const child = spawn(file, args, { env: this.session.env, cwd: this.dir, stdio: 'ignore' });
    this.#programs.push(child);
    return child;
  }

  /** Runs a program to its end and returns its output. */
  async run(file: string, ...args: readonly string[]): Promise<string> {
    const options = { env: this.session.env, cwd: this.dir, maxBuffer: 1 << 24 };
    return (await promisify(execFile)(file, [...args], options)).stdout;
  }

  async window(
    place: { x: number; y: number; width: number; height: number },
    colour = 0,
  ): Promise<ProbeWindow> {
    const window = await ProbeWindow.open(await XConnection.open(this.session.display), place, colour);
    this.#windows.push(window);
    return window;
  }

  async close(): Promise<void> {
    this.#desktop?.close();
    for (const { connection } of this.#windows) connection.close();
    const running = this.#programs.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ended = running.map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
    await this.#session?.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** What a program reads of the keyboard and the pointer. */
export interface ProbeEvent {
  readonly kind: 'key' | 'keyUp' | 'button' | 'buttonUp' | 'motion';
  readonly detail: number;
  /** Milliseconds, as the server tells the time. */
  readonly time: number;
  readonly x: number;
  readonly y: number;
  /** Modifiers and buttons that were down before. */
  readonly state: number;
}

const KINDS = { 2: 'key', 3: 'keyUp', 4: 'button', 5: 'buttonUp', 6: 'motion' } as const;
const BACKGROUND = 0x2;
const UNMANAGED = 0x200;
const EVENTS = 0x800;

/** A window of one colour that notes what it reads; no window manager moves it. */
export class ProbeWindow {
  readonly events: ProbeEvent[] = [];

  private constructor(
    readonly connection: XConnection,
    readonly id: number,
  ) {
    for (const [code, kind] of Object.entries(KINDS)) {
      connection.onEvent(Number(code), (event) =>
        this.events.push({
          kind,
          detail: event[1] ?? 0,
          time: event.readUInt32LE(4),
          x: event.readInt16LE(20),
          y: event.readInt16LE(22),
          state: event.readUInt16LE(28),
        }),
      );
    }
  }

  static async open(
    connection: XConnection,
    { x, y, width, height }: { x: number; y: number; width: number; height: number },
    colour: number,
  ): Promise<ProbeWindow> {
    const window = new ProbeWindow(connection, connection.newId());
    const allInput = 0x4f;
    const shown = 1;
    connection.send(
      packRequest(
        1,
        0,
        u32(window.id, connection.setup.root),
        u16(x, y, width, height, 0, shown),
        u32(0, BACKGROUND | UNMANAGED | EVENTS, colour, 1, allInput),
      ),
      packRequest(8, 0, u32(window.id)),
    );
    await connection.sync();
    return window;
  }

  /** From now on all keys go to this window, whatever has the focus. */
  async grabKeyboard(): Promise<void> {
    const async = 1;
    const reply = await this.connection.ask(
      packRequest(31, 0, u32(this.id, 0), Buffer.from([async, async, 0, 0])),
    );
    if (reply[1] !== 0) throw new Error(`The keyboard cannot be grabbed: ${reply[1]}`);
  }

  async paint(colour: number): Promise<void> {
    this.connection.send(
      packRequest(2, 0, u32(this.id, BACKGROUND, colour)),
      packRequest(61, 0, u32(this.id, 0, 0)),
    );
    await this.connection.sync();
  }

  /** Resolves when it has read everything that was sent to it so far. */
  async read(): Promise<readonly ProbeEvent[]> {
    await this.connection.sync();
    return this.events.splice(0);
  }
}

/** The pixels of a PNG as this product writes it, as `0xrrggbb`. */
export const readPng = (
  data: Buffer,
): { width: number; height: number; at: (x: number, y: number) => number } => {
  const width = data.readUInt32BE(16);
  const height = data.readUInt32BE(20);
  const bytes = inflateSync(data.subarray(41, 41 + data.readUInt32BE(33)));
  return {
    width,
    height,
    at: (x, y) => bytes.readUIntBE(y * (width * 3 + 1) + 1 + x * 3, 3),
  };
};
