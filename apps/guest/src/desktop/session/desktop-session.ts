import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { displayLost, displayUnresponsive } from '../x11/x-errors.js';
import type { XDisplay } from '../x11/x-connection.js';
import { packAuthority } from './authority.js';
import {
  AUTHORITY_FILE,
  desktopEnv,
  desktopFiles,
  desktopPrograms,
  endsInARow,
  MOST_ENDS,
  VNC_SOCKET,
  xServer,
  type DesktopProgram,
} from './desktop-session.plan.js';
import { removeAbandonedSocket, serverSocket } from './server-socket.js';

const READY_MS = 20_000;
/** Delay before a program that has ended is started again. */
const RESTART_MS = 500;
/** How long an X server that is asked to end may take for it. */
const END_MS = 2_000;

/** Where and as whom a desktop runs. */
export interface DesktopPlace {
  readonly width: number;
  readonly height: number;
  readonly home: string;
  /** Made anew; only the desktop's user and root can enter it. */
  readonly runtime: string;
  readonly path: string;
  /** Undefined: the user of this process. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** The programs of a desktop: its X server, window manager and panel. */
export class DesktopSession {
  /** The window manager and the panel. */
  readonly #programs = new Set<ChildProcess>();
  #ending = false;

  private constructor(
    private readonly place: DesktopPlace,
    private readonly server: ChildProcess,
    private readonly number: number,
    private readonly cookie: Buffer,
  ) {}

  /** Errors: unavailable `display_lost`, timeout `display_unresponsive`. */
  static async start(place: DesktopPlace): Promise<DesktopSession> {
    const cookie = randomBytes(16);
    let server: ChildProcess | undefined;
    try {
      prepareFolder(place, cookie);
      server = startServer(place);
      const number = await readNumber(server);
      const session = new DesktopSession(place, server, number, cookie);
      for (const program of desktopPrograms(place)) session.#keep(program, 0);
      return session;
    } catch (error) {
      if (server !== undefined) await endServer(server);
      rmSync(place.runtime, { recursive: true, force: true });
      throw error;
    }
  }

  /** How to reach its X server. */
  get display(): XDisplay {
    return { socket: serverSocket(this.number), cookie: this.cookie };
  }

  get vncSocket(): string {
    return join(this.place.runtime, VNC_SOCKET);
  }

  /** The environment of programs on this desktop. */
  get env(): Readonly<Record<string, string>> {
    return desktopEnv({ ...this.place, display: this.number });
  }

  /** Process id of the X server. */
  get serverPid(): number | undefined {
    return this.server.pid;
  }

  /** Ends the X server, and with it every program that has a window. */
  async stop(): Promise<void> {
    this.#ending = true;
    const programs = [...this.#programs].filter(isRunning);
    const ended = programs.map((program) => once(program, 'exit'));
    for (const program of programs) program.kill('SIGKILL');
    await Promise.all([...ended, endServer(this.server)]);
    await removeAbandonedSocket(this.number);
    rmSync(this.place.runtime, { recursive: true, force: true });
  }

  #keep(program: DesktopProgram, ends: number): void {
    const child = spawn(program.file, program.args, {
      ...(this.place.user ?? {}),
      cwd: this.place.home,
      env: this.env,
      stdio: 'ignore',
    });
    this.#programs.add(child);
    const startedAt = performance.now();
    let gone = false;
    const again = (): void => {
      if (gone) return;
      gone = true;
      this.#programs.delete(child);
      const endsNow = endsInARow(ends, performance.now() - startedAt);
      if (this.#ending || !isRunning(this.server) || endsNow > MOST_ENDS) return;
      setTimeout(() => {
        if (!this.#ending) this.#keep(program, endsNow);
      }, RESTART_MS).unref();
    };
    child.once('exit', again);
    child.once('error', again);
  }
}

const startServer = (place: DesktopPlace): ChildProcess => {
  const { file, args } = xServer(place);
  return spawn(file, args, {
    ...(place.user ?? {}),
    cwd: place.runtime,
    env: { HOME: place.home, PATH: place.path },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
};

/** An X server removes its files itself unless it has to be killed. */
const endServer = async (server: ChildProcess): Promise<void> => {
  if (!isRunning(server)) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const late = setTimeout(() => server.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(late);
};

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

/** The X server writes the number of the display that it has chosen when it accepts connections. */
const readNumber = async (server: ChildProcess): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let text = '';
  (server.stdio[3] as Readable).on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('\n')) resolve(Number.parseInt(text, 10));
  });
  server.once('error', (error) => reject(displayLost(error)));
  server.once('exit', () => reject(displayLost()));
  const late = setTimeout(() => reject(displayUnresponsive()), READY_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
};

const prepareFolder = ({ runtime, user }: DesktopPlace, cookie: Buffer): void => {
  rmSync(runtime, { recursive: true, force: true });
  const own = (path: string): void => {
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  };
  mkdirSync(runtime, { mode: 0o700, recursive: true });
  own(runtime);
  for (const { path, text, mode } of desktopFiles({ runtime })) {
    mkdirSync(dirname(join(runtime, path)), { recursive: true });
    writeFileSync(join(runtime, path), text, { mode });
  }
  writeFileSync(join(runtime, AUTHORITY_FILE), packAuthority(cookie), { mode: 0o600 });
  own(join(runtime, AUTHORITY_FILE));
};
