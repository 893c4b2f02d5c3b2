import { accessSync, constants, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { PutProgram } from '@berth/guest-protocol';
import type * as NodePty from '@lydell/node-pty';
import { asAgent } from '../as-agent.js';
import { killBeforeGuest } from '../oom-score.js';

/** Maximum width and height of a terminal, to reject errors and abuse. */
const MAX_CELLS = 1_000;
const SHELLS = ['/bin/bash', '/bin/sh'] as const;
const KILL_AFTER_MS = 1_000;
/** Delay before the next write to a full terminal, which does not notify when its shell has read. */
const FULL_FOR_MS = 10;

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Whether a terminal can have that size. */
export const isSize = ({ cols, rows }: { readonly cols: unknown; readonly rows: unknown }): boolean =>
  [cols, rows].every((cells) => Number.isInteger(cells) && Number(cells) >= 1 && Number(cells) <= MAX_CELLS);

/** A shell of the agent's own user on a pseudo-terminal; passes bytes unchanged. */
export class Terminal {
  readonly #pty: NodePty.IPty;
  #ended = false;
  readonly #input: Buffer[] = [];
  #unread = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    program: PutProgram,
    env: Readonly<Record<string, string>>,
    size: TerminalSize,
    hooks: { readonly onData: (bytes: Buffer) => void; readonly onEnd: (exitCode: number) => void },
  ) {
    const { runAs, volume } = program;
    const shell = [...SHELLS, runAs?.shell ?? '/bin/sh'].find(isExecutable) ?? '/bin/sh';
    const {
      file,
      args,
      user,
      env: passed,
    } = asAgent(runAs, { file: shell, args: [], env: { ...env, SHELL: shell } });
    this.#pty = loadPty().spawn(file, [...args], {
      name: 'xterm-256color',
      cols: size.cols,
      rows: size.rows,
      cwd: volume,
      env: passed,
      encoding: null,
      ...(user.uid === undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
    killBeforeGuest(this.#pty.pid);
    // With `encoding: null` the library passes bytes, despite its types.
    this.#pty.onData((data: unknown) => hooks.onData(data as Buffer));
    this.#pty.onExit(({ exitCode }) => {
      this.#ended = true;
      hooks.onEnd(exitCode);
    });
  }

  /** Number of bytes that the shell has not read yet. */
  get unread(): number {
    return this.#unread;
  }

  write(bytes: Buffer): void {
    if (this.#ended || bytes.length === 0) return;
    this.#input.push(bytes);
    this.#unread += bytes.length;
    if (this.#retry === undefined) this.#pass();
  }

  /**
   * Bypasses the library's `write`: libuv cannot wait for a full pseudo-terminal and retries in a busy loop, which
   * blocks the whole guest until the shell reads.
   */
  #pass(): void {
    this.#retry = undefined;
    const { fd, _socket: socket } = this.#pty as unknown as { readonly fd: number; readonly _socket: Socket };
    for (let next = this.#input[0]; next !== undefined; next = this.#input[0]) {
      if (this.#ended || socket.destroyed) return this.#discard();
      const taken = writeNow(fd, next);
      if (taken === 'failed') return this.#discard();
      this.#unread -= taken;
      if (taken === next.length) {
        this.#input.shift();
        continue;
      }
      this.#input[0] = next.subarray(taken);
      this.#retry = setTimeout(() => this.#pass(), FULL_FOR_MS);
      return;
    }
  }

  #discard(): void {
    this.#input.length = 0;
    this.#unread = 0;
  }

  resize({ cols, rows }: TerminalSize): void {
    if (!this.#ended) this.#pty.resize(cols, rows);
  }

  /** Holds back the shell's output until `resume`. */
  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  /** Sends a hang-up, like a closed terminal, and later kills a shell that does not exit. */
  end(): void {
    this.#discard();
    if (this.#ended) return;
    this.#pty.resume();
    const { pid } = this.#pty;
    signalSession(pid, 'SIGHUP');
    setTimeout(() => {
      if (!this.#ended) signalSession(pid, 'SIGKILL');
    }, KILL_AFTER_MS).unref();
  }
}

/** Loaded by the first terminal, because most guests start without one. */
const loadPty = (): typeof NodePty => createRequire(import.meta.url)('@lydell/node-pty') as typeof NodePty;

/** Writes without blocking; returns the number of bytes that the terminal accepted. */
const writeNow = (fd: number, bytes: Buffer): number | 'failed' => {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN' ? 0 : 'failed';
  }
};

/** The shell leads its own session and process group; the kernel notifies its foreground processes of its end. */
const signalSession = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The shell has already exited.
  }
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
