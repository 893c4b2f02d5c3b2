import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { RunAsUser } from '@berth/guest-protocol';
import { detach } from '@berth/kernel';
import { newVncPasswords, packVncPasswords, type VncPasswords } from '../vnc/vnc-auth.js';
import type { XDisplay } from '../x11/x-connection.js';
import { packAuthority } from './authority.js';
import { endServer, isRunning, readNumber, startProcess } from './desktop-process.js';
import {
  AUTHORITY_FILE,
  desktopEnv,
  desktopFiles,
  desktopPrograms,
  endsInARow,
  MOST_ENDS,
  PASSWORDS_FILE,
  VNC_SOCKET,
  xServer,
  type DesktopProgram,
} from './desktop-session.plan.js';
import { removeAbandonedSocket, serverSocket } from './server-socket.js';
import { makeUserFolder, removeUserFolder } from './user-folder.js';

/** Delay before a program that has ended is started again. */
const RESTART_MS = 500;

/** Where and as whom a desktop runs. */
export interface DesktopPlace {
  readonly width: number;
  readonly height: number;
  readonly home: string;
  /** Made anew; only the desktop's user and root can enter it. */
  readonly runtime: string;
  readonly path: string;
  /** Variables of all its programs, which its own replace. */
  readonly env: Readonly<Record<string, string>>;
  /** null: the user of this process. */
  readonly runAs: RunAsUser | null;
}

/** What keeps others off a display. */
interface DesktopSecrets {
  readonly cookie: Buffer;
  readonly passwords: VncPasswords;
}

/** How an X server has exited. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The programs of a desktop: its X server, window manager and panel. */
export class DesktopSession {
  /** Resolves when its X server has exited, and with it everything on the display. */
  readonly exited: Promise<ServerExit>;
  /** The window manager and the panel. */
  readonly #programs = new Set<ChildProcess>();
  #ending = false;

  private constructor(
    private readonly place: DesktopPlace,
    private readonly server: ChildProcess,
    private readonly number: number,
    private readonly secrets: DesktopSecrets,
  ) {
    const exit = (): ServerExit => ({ code: server.exitCode, signal: server.signalCode });
    this.exited = isRunning(server) ? once(server, 'exit').then(exit) : Promise.resolve(exit());
  }

  /**
   * Ends what has started when `signal` aborts before the X server is ready. Errors: unavailable `display_lost`, timeout
   * `display_unresponsive`.
   */
  static async start(place: DesktopPlace, signal?: AbortSignal): Promise<DesktopSession> {
    const secrets = { cookie: randomBytes(16), passwords: newVncPasswords() };
    let server: ChildProcess | undefined;
    const end = (): void => {
      if (server !== undefined) detach(endServer(server));
    };
    signal?.addEventListener('abort', end);
    try {
      await prepareFolder(place, secrets);
      signal?.throwIfAborted();
      server = startProcess(place.runAs, xServer(place), {
        cwd: place.runtime,
        env: { ...place.env, HOME: place.home, PATH: place.path },
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      });
      const number = await readNumber(server);
      const session = new DesktopSession(place, server, number, secrets);
      for (const program of desktopPrograms(place)) session.#keep(program, 0);
      return session;
    } catch (error) {
      if (server !== undefined) await endServer(server);
      await removeUserFolder(place, place.runtime);
      throw error;
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }

  /** How to reach its X server. */
  get display(): XDisplay {
    return { socket: serverSocket(this.number), cookie: this.secrets.cookie };
  }

  get vncSocket(): string {
    return join(this.place.runtime, VNC_SOCKET);
  }

  get vncPasswords(): VncPasswords {
    return this.secrets.passwords;
  }

  /** The environment of programs on this desktop. */
  get env(): Readonly<Record<string, string>> {
    return { ...this.place.env, ...desktopEnv({ ...this.place, display: this.number }) };
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
    await removeUserFolder(this.place, this.place.runtime);
  }

  #keep(program: DesktopProgram, ends: number): void {
    const { home: cwd, runAs } = this.place;
    const child = startProcess(runAs, program, { cwd, env: this.env, stdio: 'ignore' });
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

const prepareFolder = (place: DesktopPlace, { cookie, passwords }: DesktopSecrets): Promise<void> =>
  makeUserFolder(place, place.runtime, [
    ...desktopFiles(place).map(({ path, text, mode }) => ({ path, content: text, mode })),
    { path: AUTHORITY_FILE, content: packAuthority(cookie), mode: 0o600 },
    { path: PASSWORDS_FILE, content: packVncPasswords(passwords), mode: 0o600 },
  ]);
