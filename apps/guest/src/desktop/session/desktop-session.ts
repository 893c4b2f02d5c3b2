import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { RunAsUser } from '@berth/guest-protocol';
import { asAgent } from '../../as-agent.js';
import { killBeforeGuest } from '../../oom-score.js';
import { newVncPasswords, packVncPasswords, type VncPasswords } from '../vnc/vnc-auth.js';
import { displayLost, displayUnresponsive } from '../x11/x-errors.js';
import type { XDisplay } from '../x11/x-connection.js';
import { packAuthority } from './authority.js';
import {
  AUTHORITY_FILE,
  desktopEnv,
  desktopFiles,
  desktopPrograms,
  PASSWORDS_FILE,
  VNC_SOCKET,
  xServer,
  type DesktopProgram,
} from './desktop-session.plan.js';
import { makeUserFolder, removeUserFolder } from './user-folder.js';

const READY_MS = 20_000;
/** Delay before a program that has ended is started again. */
const RESTART_MS = 500;
/** Ends of a program after which it is not started again. */
const MOST_ENDS = 20;

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
  readonly #children = new Set<ChildProcess>();
  #ending = false;

  private constructor(
    private readonly place: DesktopPlace,
    private readonly server: ChildProcess,
    private readonly number: number,
    private readonly secrets: DesktopSecrets,
  ) {
    this.#children.add(server);
    const { exitCode, signalCode } = server;
    this.exited =
      exitCode === null && signalCode === null
        ? once(server, 'exit').then(([code, signal]) => ({ code, signal }) as ServerExit)
        : Promise.resolve({ code: exitCode, signal: signalCode });
  }

  /**
   * Kills what has started when `signal` aborts before the X server is ready. Errors: unavailable `display_lost`, timeout
   * `display_unresponsive`.
   */
  static async start(place: DesktopPlace, signal?: AbortSignal): Promise<DesktopSession> {
    const secrets = { cookie: randomBytes(16), passwords: newVncPasswords() };
    await prepareFolder(place, secrets);
    signal?.throwIfAborted();
    const server = spawnOn(place, xServer(place), {
      cwd: place.runtime,
      env: { ...place.env, HOME: place.home, PATH: place.path },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const kill = (): void => void server.kill('SIGKILL');
    signal?.addEventListener('abort', kill);
    try {
      const number = await readNumber(server);
      const session = new DesktopSession(place, server, number, secrets);
      for (const program of desktopPrograms(place)) session.#keep(program, 0);
      return session;
    } catch (error) {
      kill();
      await removeUserFolder(place, place.runtime);
      throw error;
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  }

  /** How to reach its X server. */
  get display(): XDisplay {
    return { socket: `/tmp/.X11-unix/X${this.number}`, cookie: this.secrets.cookie };
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
    const children = [...this.#children].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill(child === this.server ? 'SIGTERM' : 'SIGKILL');
    const late = setTimeout(() => this.server.kill('SIGKILL'), 2_000);
    await Promise.all(ended);
    clearTimeout(late);
    await removeUserFolder(this.place, this.place.runtime);
  }

  #keep(program: DesktopProgram, ends: number): void {
    const { home: cwd } = this.place;
    const child = spawnOn(this.place, program, { cwd, env: this.env, stdio: 'ignore' });
    this.#children.add(child);
    let gone = false;
    const again = (): void => {
      if (gone) return;
      gone = true;
      this.#children.delete(child);
      const isOver = this.#ending || this.server.exitCode !== null || this.server.signalCode !== null;
      if (isOver || ends >= MOST_ENDS) return;
      setTimeout(() => {
        if (!this.#ending) this.#keep(program, ends + 1);
      }, RESTART_MS).unref();
    };
    child.once('exit', again);
    child.once('error', again);
  }
}

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

const prepareFolder = (place: DesktopPlace, { cookie, passwords }: DesktopSecrets): Promise<void> =>
  makeUserFolder(place, place.runtime, [
    ...desktopFiles(place).map(({ path, text, mode }) => ({ path, content: text, mode })),
    { path: AUTHORITY_FILE, content: packAuthority(cookie), mode: 0o600 },
    { path: PASSWORDS_FILE, content: packVncPasswords(passwords), mode: 0o600 },
  ]);

/** Starts a program as the desktop's user. */
const spawnOn = (
  { runAs }: DesktopPlace,
  program: DesktopProgram,
  options: Pick<SpawnOptions, 'cwd' | 'stdio'> & { readonly env: Readonly<Record<string, string>> },
): ChildProcess => {
  const { file, args, env, user } = asAgent(runAs, { ...program, env: options.env });
  const child = spawn(file, args, { ...options, ...user, env });
  killBeforeGuest(child.pid);
  return child;
};
