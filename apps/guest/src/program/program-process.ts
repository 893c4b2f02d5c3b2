import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { detach } from '@berth/kernel';
import type { PutProgram } from '@berth/guest-protocol';
import { asAgent } from '../as-agent.js';
import { LineSplitter } from '../log/line-splitter.js';
import type { LogWriter } from '../log/log-writer.js';
import { readLevel } from '../log/read-level.js';
import type { OutputPipes } from '../output/output-pipes.js';
import { startCaptured } from '../output/start-captured.js';
import { howItEnded } from '../workload/how-it-ended.js';

/** How long to wait for the output of a program that has exited. */
const LAST_OUTPUT_MS = 200;
/** The exit code of a shell whose command was killed. */
const KILLED_CODE = 137;

/** One process of the agent's program, in its own process group. */
export class ProgramProcess {
  /** How it ended, for example `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Resolves when it has exited; its last output is still being read. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #over = false;
  #isEnding = false;
  #wasKilled = false;

  constructor(
    program: PutProgram & { readonly command: readonly [string, ...string[]] },
    env: Readonly<Record<string, string>>,
    log: LogWriter,
    pipes: OutputPipes,
  ) {
    const [command, ...rest] = program.command;
    const { file, args, user, env: passed } = asAgent(program.runAs, { file: command, args: rest, env });
    const { child, stdout, stderr } = startCaptured(pipes, false, (stdio) =>
      spawn(file, args, { cwd: program.cwd, env: passed, detached: true, stdio, ...user }),
    );
    this.#child = child;
    const exit = this.#exit();
    this.exited = exit.then(() => undefined);
    this.ended = this.#afterExit(
      exit,
      Promise.all([collect(stdout, 'stdout', log), collect(stderr, 'stderr', log)]),
    );
  }

  /** Whether it was killed, not by `end`. A shell in between passes that on as its exit code. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Sends TERM to the group, then KILL after `graceMs`; resolves when the program has exited. */
  async end(graceMs: number): Promise<void> {
    this.#isEnding = true;
    this.#signal('SIGTERM');
    const killed = new AbortController();
    const ended = this.ended.finally(() => killed.abort());
    await delay(graceMs, undefined, { signal: killed.signal }).then(
      () => this.#signal('SIGKILL'),
      () => undefined,
    );
    await ended;
  }

  #exit(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#child.once('error', (error) => resolve(`could not be started (${reason(error)})`));
    this.#child.once('exit', (code, signal) => {
      this.#wasKilled = !this.#isEnding && (signal === 'SIGKILL' || code === KILLED_CODE);
      resolve(howItEnded(code, signal));
    });
    return promise;
  }

  async #afterExit(exit: Promise<string>, closed: Promise<unknown>): Promise<string> {
    const how = await exit;
    // Remaining processes of the group would hold the port and files of the next start.
    this.#signal('SIGKILL');
    this.#over = true;
    // Read its last output; a process that left the group with the pipes must not delay this.
    await Promise.race([closed, delay(LAST_OUTPUT_MS)]);
    return how;
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is empty, as intended.
    }
  }
}

const reason = (error: Error): string => ('code' in error ? String(error.code) : error.name);

/** Resolves at the end of the stream. */
const collect = async (stream: Readable | null, name: 'stdout' | 'stderr', log: LogWriter): Promise<void> => {
  if (stream === null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const lines = new LineSplitter((line) => {
    const { level, message } = readLevel(line, name);
    log.add('agent', level, message);
  });
  stream.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    if (!log.saturated) return;
    stream.pause();
    detach(log.flush().then(() => stream.resume()));
  });
  stream.on('end', () => lines.end());
  stream.on('error', () => lines.end());
  stream.once('close', resolve);
  await promise;
};
