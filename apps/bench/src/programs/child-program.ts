import { spawn, type ChildProcess } from 'node:child_process';
import { BenchError } from '../bench-error.js';

export interface ChildProgramOptions {
  /** Its name in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The output that marks it as ready. */
  readonly ready: RegExp;
  readonly withinMs?: number;
  /** Whether it gets an IPC channel, by which a Node program detects the end of this process; default true. */
  readonly channel?: boolean;
}

const STOP_WITHIN_MS = 12_000;
const running = new Set<ChildProcess>();

/** Asks every program of this process to end and waits until all have. */
export const stopPrograms = async (): Promise<void> => {
  await Promise.all(
    [...running].map((child) => {
      child.kill('SIGTERM');
      return new Promise((resolve) => child.once('close', resolve));
    }),
  );
};

// However this process ends, its children must not survive. They are asked to end rather than killed, because a Berth
// then ends its agents too.
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** A program as a separate process, ready once it prints its ready line. */
export class ChildProgram {
  #output = '';
  readonly #exited: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly name: string,
    /** From the start of the process until it was ready, in milliseconds. */
    private tookMs: number,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on(
        'data',
        (chunk: Buffer) => (this.#output = (this.#output + chunk.toString('utf8')).slice(-8_000)),
      );
    }
    this.#exited = new Promise((resolve) => {
      child.once('close', () => {
        running.delete(child);
        resolve();
      });
    });
  }

  /** Throws `BenchError` with the program's output when it ends or times out before it is ready. */
  static async start(
    options: ChildProgramOptions,
  ): Promise<{ program: ChildProgram; ready: RegExpExecArray }> {
    const begun = performance.now();
    const child = spawn(options.command, options.args, {
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe', ...(options.channel === false ? [] : (['ipc'] as const))],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    running.add(child);
    const program = new ChildProgram(child, options.name, 0);
    const ready = await program.#untilOutput(options.ready, options.withinMs ?? 60_000);
    program.tookMs = performance.now() - begun;
    return { program, ready };
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get startedInMs(): number {
    return this.tookMs;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends SIGTERM, then SIGKILL if that does not end it. */
  async stop(): Promise<void> {
    if (!running.has(this.child)) return;
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_WITHIN_MS);
    this.child.kill('SIGTERM');
    await this.#exited;
    clearTimeout(timer);
  }

  #untilOutput(pattern: RegExp, withinMs: number): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => {
        this.child.kill('SIGKILL');
        reject(new BenchError(`${this.name} ${what}. Its output:\n${this.#output.trim() || '(nothing)'}`));
      };
      const timer = setTimeout(() => fail(`was not ready within ${withinMs / 1000} s`), withinMs);
      const check = (): void => {
        const match = pattern.exec(this.#output);
        if (match === null) return;
        clearTimeout(timer);
        for (const stream of streams) stream?.off('data', check);
        resolve(match);
      };
      const streams = [this.child.stdout, this.child.stderr];
      for (const stream of streams) stream?.on('data', check);
      this.child.once('error', (error) => fail(`could not be started: ${error.message}`));
      const end = (): void => {
        clearTimeout(timer);
        fail('ended before it was ready');
      };
      this.#exited.then(end, end);
    });
  }
}
