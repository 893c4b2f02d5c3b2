import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { PutProgram } from '@berth/guest-protocol';
import { LineSplitter } from '../log/line-splitter.js';
import type { LogWriter } from '../log/log-writer.js';
import { readLevel } from '../log/read-level.js';

/** How long the output of a program that has ended is waited for. */
const LAST_WORDS_MS = 200;

/** One life of the agent's program, in a process group of its own. */
export class ProgramProcess {
  /** How it ended, in words: `exited with code 1`. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #over = false;

  constructor(
    program: PutProgram & { readonly command: readonly [string, ...string[]] },
    env: Readonly<Record<string, string>>,
    log: LogWriter,
  ) {
    const [command, ...args] = program.command;
    this.#child = spawn(command, args, {
      cwd: program.cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(program.runAs ?? {}),
    });
    if (this.#child.stdout) collect(this.#child.stdout, 'stdout', log);
    if (this.#child.stderr) collect(this.#child.stderr, 'stderr', log);
    this.ended = this.#watch();
  }

  /** TERM to the group, KILL once the time is over; resolves when the program has ended. */
  async end(graceMs: number): Promise<void> {
    this.#signal('SIGTERM');
    const killed = new AbortController();
    const ended = this.ended.finally(() => killed.abort());
    await delay(graceMs, undefined, { signal: killed.signal }).then(
      () => this.#signal('SIGKILL'),
      () => undefined,
    );
    await ended;
  }

  #watch(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#child.once('error', (error) => resolve(`could not be started (${reason(error)})`));
    this.#child.once('exit', (code, signal) => {
      resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
    });
    const closed = once(this.#child, 'close').catch(() => undefined);
    return promise.then(async (how) => {
      // What it left behind in its group would hold its port and its files when the next one comes.
      this.#signal('SIGKILL');
      this.#over = true;
      // Its last words; a process that took the pipes out of the group keeps nobody waiting.
      await Promise.race([closed, delay(LAST_WORDS_MS)]);
      return how;
    });
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left in the group, which is what was wanted.
    }
  }
}

const reason = (error: Error): string => ('code' in error ? String(error.code) : error.name);

const collect = (stream: Readable, name: 'stdout' | 'stderr', log: LogWriter): void => {
  const lines = new LineSplitter((line) => {
    const { level, message } = readLevel(line, name);
    log.add('agent', level, message);
  });
  stream.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    if (!log.saturated) return;
    stream.pause();
    void log.flush().then(() => stream.resume());
  });
  stream.on('end', () => lines.end());
  stream.on('error', () => lines.end());
};
