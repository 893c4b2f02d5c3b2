import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { detach } from '@berth/kernel';
import type { ExecutionStatus, PutProgram } from '@berth/guest-protocol';
import { asAgent } from '../as-agent.js';
import type { OutputPipes } from '../output/output-pipes.js';
import { startCaptured, type CapturedChild } from '../output/start-captured.js';
import { commandTooLarge, commandUnavailable } from './execution-refusals.js';
import { endProcesses } from './end-processes.js';
import type { ExecutionGroup, ExecutionGroups } from './execution-groups.js';
import { startTimer } from './long-timer.js';
import type { OutputRings } from './output-rings.js';
import { OutputTail } from './output-tail.js';
import { shellArguments, type Shell, type ShellTask } from './shell.js';
import { executionMark, TracedProcesses } from './traced-processes.js';

/** How long to wait for output after the shell has exited. */
const DRAIN_MS = 200;
/** Delay between TERM and KILL. */
const GRACE_MS = 2_000;
/** Offset that shells add to a signal number to form an exit code. */
const SIGNAL_BASE = 128;

/** Why an execution was ended before its command ended by itself. */
export type EndCause = Exclude<ExecutionStatus, 'running' | 'completed'>;

export interface Ending {
  readonly status: 'completed' | EndCause;
  readonly exitCode: number;
}

/** One command as passed to a shell. */
export interface ProcessTask extends ShellTask {
  readonly executionId: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
}

/** What processes of executions are started with. */
export interface ProcessMeans {
  readonly pipes: OutputPipes;
  readonly groups: ExecutionGroups;
  readonly outputs: OutputRings;
}

/** A shell and the processes it started, in their own control group where there is one, process group and session. */
export class ExecutionProcess {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  /** Resolves when the output is complete; later output is dropped. */
  readonly over: Promise<Ending>;
  readonly #captured: CapturedChild;
  readonly #group: ExecutionGroup | undefined;
  readonly #executionId: string;
  readonly #exited = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<void>();
  #hasExited = false;
  #cause: EndCause | undefined;

  /** Errors, with nothing started: unavailable `guest_command_unavailable`; invalid `invalid_command`. */
  constructor(
    shell: Shell,
    task: ProcessTask,
    program: Pick<PutProgram, 'volume' | 'runAs'>,
    means: ProcessMeans,
    private readonly onOutput: () => void = () => undefined,
  ) {
    this.#executionId = task.executionId;
    this.stdout = new OutputTail(means.outputs);
    this.stderr = new OutputTail(means.outputs);
    const { captured, group } = start(shell, task, program, means);
    this.#captured = captured;
    this.#group = group;
    this.#captured.child.once('exit', (code, signal) => {
      this.#hasExited = true;
      this.#exited.resolve(code ?? SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]));
    });
    const stopTimer = startTimer(task.timeoutMs, () => this.end('timed_out'));
    detach(this.#exited.promise.then(stopTimer));
    const closed = Promise.all([
      collect(this.#captured.stdout, (chunk) => this.#take(this.stdout, chunk)),
      collect(this.#captured.stderr, (chunk) => this.#take(this.stderr, chunk)),
    ]);
    this.over = this.#watch(closed).finally(() => {
      stopTimer();
      if (group !== undefined) means.groups.discard(group);
    });
  }

  /**
   * Ends all its processes. Only the first cause counts; if the shell has already exited, the execution counts as
   * completed.
   */
  end(cause: EndCause, graceMs: number = GRACE_MS): void {
    const { pid } = this.#captured.child;
    if (this.#hasExited || this.#cause !== undefined || pid === undefined) return;
    this.#cause = cause;
    const processes = this.#group?.processes ?? TracedProcesses.of(pid, this.#executionId);
    const ended = (): void => this.#ended.resolve();
    (processes === undefined ? Promise.resolve() : endProcesses(processes, graceMs)).then(ended, ended);
  }

  /** Call it when it is over and nobody reads its output any more. */
  release(): void {
    this.stdout.release();
    this.stderr.release();
  }

  async #watch(closed: Promise<unknown>): Promise<Ending> {
    const exitCode = await Promise.race([this.#exited.promise, this.#ended.promise]);
    const cause = this.#cause;
    if (cause !== undefined) await this.#ended.promise;
    await drained(closed);
    this.#dropTheRest();
    return cause === undefined
      ? { status: 'completed', exitCode: exitCode ?? -1 }
      : { status: cause, exitCode: -1 };
  }

  #take(tail: OutputTail, chunk: Buffer): void {
    tail.push(chunk);
    release(chunk);
    this.onOutput();
  }

  /** Keeps reading, so that a background child can still write and does not die of SIGPIPE. */
  #dropTheRest(): void {
    for (const stream of [this.#captured.stdout, this.#captured.stderr]) {
      stream?.removeAllListeners('data');
      stream?.on('data', release);
    }
  }
}

interface StartedProcess {
  readonly captured: CapturedChild;
  readonly group: ExecutionGroup | undefined;
}

const start = (
  shell: Shell,
  task: ProcessTask,
  { volume, runAs }: Pick<PutProgram, 'volume' | 'runAs'>,
  { pipes, groups }: ProcessMeans,
): StartedProcess => {
  const group = groups.create(runAs, task.executionId);
  try {
    const spawnAs = (user: PutProgram['runAs'], stdio: StdioOptions): ChildProcess => {
      const command = asAgent(user, {
        file: shell.path,
        args: shellArguments(shell, task),
        env: { ...task.env, ...executionMark(task.executionId) },
        argv0: shell.argv0,
      });
      const { file, args, env } = command;
      return spawn(file, args, { cwd: volume, env, detached: true, stdio, ...command.user });
    };
    const captured = startCaptured(pipes, task.merged, (stdio) =>
      group === undefined ? spawnAs(runAs, stdio) : group.enclose((user) => spawnAs(user, stdio)),
    );
    // Some spawn errors are only emitted later, as an event; without a pid the process was never started.
    captured.child.on('error', () => undefined);
    if (captured.child.pid !== undefined) return { captured, group };
  } catch (error) {
    if (group !== undefined) groups.discard(group);
    if (error instanceof Error && 'code' in error && error.code === 'E2BIG') throw commandTooLarge();
    throw commandUnavailable(error);
  }
  if (group !== undefined) groups.discard(group);
  throw commandUnavailable();
};

/** Resolves at the end of the stream. */
const collect = async (stream: Readable | null, take: (chunk: Buffer) => void): Promise<void> => {
  if (stream === null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.on('data', take);
  stream.once('close', resolve);
  stream.once('error', () => resolve());
  await promise;
};

/**
 * Frees a chunk's memory at once: waiting for the garbage collector costs tens of megabytes during a command with much
 * output, for the rest of the guest's life. Leaves shared buffers alone.
 */
const release = ({ buffer, byteLength }: Buffer): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
};

const drained = async (closed: Promise<unknown>): Promise<void> => {
  const waited = new AbortController();
  const late = delay(DRAIN_MS, undefined, { signal: waited.signal }).catch(() => undefined);
  await Promise.race([closed, late]);
  waited.abort();
  // If this process itself was late, read what is already available first.
  await nextTurn();
};
