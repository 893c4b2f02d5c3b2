import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '@berth/config';
import { programArguments, provideCluster } from '@berth/testing';

/** Templates with the behaviour that the tests need, installed as an operator's own. */
export const TEST_TEMPLATES = fileURLToPath(new URL('../../e2e-templates', import.meta.url));
/** What a program prints when it serves, with its address. */
export const READY = /Berth is ready at (http:\/\/\S+)/;
const APPS = fileURLToPath(new URL('../../..', import.meta.url));

/** One of our programs as a separate process, started by the Node that runs the tests. */
export class Program {
  private output = '';
  readonly exited: Promise<number | null>;

  private constructor(
    readonly app: string,
    readonly child: ChildProcess,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  static start(app: string, env: Env, options: { readonly detached?: boolean } = {}): Program {
    return Program.run(app, [process.execPath, ...programArguments(app)], env, options);
  }

  /** Like `start`, in a network namespace. Nothing else changes, so that control groups stay where they are. */
  static startIn(namespace: string, app: string, env: Env): Program {
    const command = ['nsenter', `--net=${namespace}`, process.execPath, ...programArguments(app)];
    return Program.run(app, command, env, {});
  }

  /** Like `start`, with a terminal for its output; util-linux's `script` provides it. */
  static onTerminal(app: string, env: Env): Program {
    const command = `exec ${process.execPath} ${programArguments(app).join(' ')}`;
    return Program.run(app, ['script', '--quiet', '--flush', '--command', command, '/dev/null'], env, {});
  }

  /** `npm start` in this checkout, as an operator types it. */
  static npmStart(env: Env): Program {
    return Program.run('npm start', ['npm', 'start'], env, { detached: true });
  }

  private static run(
    app: string,
    [command = '', ...args]: readonly string[],
    env: Env,
    { detached = false }: { readonly detached?: boolean },
  ): Program {
    const child = spawn(command, args, {
      cwd: dirname(APPS),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        // As `npm start` does: a quarter of the processor time of a start is compilation.
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached,
    });
    return new Program(app, child);
  }

  /** Everything it has printed so far. */
  get printed(): string {
    return this.output;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits for matching output; throws an error with the output if the program ends first or the wait times out. */
  async untilPrinted(pattern: RegExp, timeoutMs = 150_000): Promise<RegExpExecArray> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.hasEnded || Date.now() > end) {
        throw new Error(`${this.app} did not print ${String(pattern)}, but:\n${this.output.slice(-4_000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sends the signal and waits until the program has ended. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return await this.exited;
  }
}

export const temporaryFolder = (): { readonly path: string; remove(): void } => {
  const path = mkdtempSync(join(tmpdir(), 'berth-e2e-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
};

/** A running installation as an API consumer sees it. */
export interface Stack {
  /** Base addresses of its gateways. */
  readonly urls: readonly string[];
  /** The bootstrap key. */
  readonly key: string;
  readonly dataDir: string;
  stop(): Promise<void>;
}

export interface StandaloneStack extends Stack {
  readonly program: Program;
}

/** The whole product as one program on a data folder. With `empty: true` the program creates its database itself. */
export const startStandaloneStack = async (
  dataDir: string,
  env: Env = {},
  { empty = false, ...options }: { readonly detached?: boolean; readonly empty?: boolean } = {},
): Promise<StandaloneStack> => {
  if (!empty && env['DATABASE_URL'] === undefined) await provideCluster(dataDir);
  const own = {
    PORT: '0',
    BERTH_DATA: dataDir,
    BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
    BERTH_WARM_SLEEP_SECONDS: '3',
  };
  const program = Program.start('standalone', { ...own, ...env }, options);
  const stop = async (): Promise<void> => void (await program.end('SIGTERM'));
  try {
    const [, url = ''] = await program.untilPrinted(READY);
    return { urls: [url], key: readKey(dataDir), dataDir, program, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

export const readKey = (dataDir: string): string =>
  readFileSync(join(dataDir, 'bootstrap-key'), 'utf8').trim();
