import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  guestEnv,
  GUEST_NODE_OPTIONS,
  GUEST_ROUTES,
  type ExecutionReport,
  type Generation,
  type GuestRoute,
  type OutputLine,
  type PutProgram,
  type RunCommand,
} from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { eventually, programArguments } from '@berth/testing';
import type { Reply } from './guest.fixture.js';

const isRoot = process.getuid?.() === 0;
/** The agent's own user, if the tests run as root. */
export const agentUser = isRoot ? { uid: 61_234, gid: 61_234 } : null;

/** A followed output: all lines so far. */
export interface Following {
  readonly lines: readonly OutputLine[];
  readonly ended: Promise<void>;
  text(stream: 'stdout' | 'stderr'): string;
  pause(): void;
  resume(): void;
  leave(): void;
}

/** A guest in its own process, as a runtime starts it, with methods for its execution routes. */
export class CommandGuest {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-commands-'));
  readonly volume = join(this.dir, 'volume');
  #process: ChildProcess | undefined;

  private constructor(private readonly launcher: readonly string[]) {}

  /** `launcher` is the start of a command line that becomes the guest. */
  static async open(
    generation: Generation = 'current',
    launcher: readonly string[] = [],
  ): Promise<CommandGuest> {
    const guest = new CommandGuest(launcher);
    for (const name of ['volume', 'staging', 'logs', 'journal', 'tmp']) mkdirSync(join(guest.dir, name));
    chmodSync(guest.dir, 0o755);
    if (agentUser !== null) chownSync(guest.volume, agentUser.uid, agentUser.gid);
    await guest.start({}, generation);
    return guest;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  async start(
    env: Readonly<Record<string, string>> = {},
    generation: Generation = 'current',
    changes: Partial<PutProgram> = {},
  ): Promise<void> {
    const at = (name: string): string => join(this.dir, name);
    const [program = '', ...args] = [
      ...this.launcher,
      process.execPath,
      ...GUEST_NODE_OPTIONS,
      ...programArguments('guest'),
    ];
    this.#process = spawn(program, args, {
      env: {
        ...env,
        [guestEnv.socket]: at('sock'),
        [guestEnv.logs]: at('logs'),
        [guestEnv.journal]: at('journal'),
        [guestEnv.generation]: generation,
      },
      stdio: 'inherit',
    });
    await eventually(() => existsSync(at('sock')), { timeoutMs: 20_000 });
    await eventually(() => this.put(changes), { timeoutMs: 20_000 });
  }

  /** Kills the guest abruptly, unlike a runtime. */
  async kill(): Promise<void> {
    const gone = this.#process && once(this.#process, 'exit');
    this.#process?.kill('SIGKILL');
    await gone;
    rmSync(join(this.dir, 'sock'), { force: true });
  }

  async shutDown(graceMs = 10_000): Promise<void> {
    const gone = this.#process && once(this.#process, 'exit');
    await this.ask(GUEST_ROUTES.shutdown, { graceMs });
    await gone;
    rmSync(join(this.dir, 'sock'), { force: true });
  }

  async destroy(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      await this.ask(GUEST_ROUTES.shutdown, { graceMs: 0 }).catch(() => undefined);
      await this.kill();
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  put(changes: Partial<PutProgram> = {}): Promise<Reply> {
    const { dir, volume } = this;
    const program: PutProgram = {
      agentId: 'agt_1',
      command: null,
      cwd: volume,
      volume,
      storage: { volume, staging: join(dir, 'staging') },
      tmp: join(dir, 'tmp'),
      path: '/usr/local/bin:/usr/bin:/bin',
      runAs: agentUser,
      env: { GREETING: 'hello' },
      token: 'token-1',
      instructions: null,
      restart: { maxDeaths: 5, windowMs: 60_000, maxEarlyDeaths: 3 },
      readyWithinMs: 10_000,
      ...changes,
    };
    return this.ask(GUEST_ROUTES.program, program);
  }

  /** A new execution id. */
  newId(): string {
    return newId('exe');
  }

  execute(command: string, changes: Partial<RunCommand> = {}): Promise<Reply> {
    return this.ask(GUEST_ROUTES.execute, {
      executionId: this.newId(),
      command,
      cwd: null,
      env: {},
      timeoutMs: 60_000,
      waitMs: 60_000,
      ...changes,
    });
  }

  /** Like `execute`, for a command that must be accepted. */
  async run(command: string, changes: Partial<RunCommand> = {}): Promise<ExecutionReport> {
    const { status, body } = await this.execute(command, changes);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body as unknown as ExecutionReport;
  }

  /** Starts a command and returns its id once the file `marker` exists in the volume. */
  async begin(command: string, marker = 'begun', changes: Partial<RunCommand> = {}): Promise<string> {
    const { executionId } = await this.run(command, { waitMs: 0, ...changes });
    await eventually(() => existsSync(join(this.volume, marker)), { timeoutMs: 20_000 });
    return executionId;
  }

  async find(executionId: string, waitMs = 0): Promise<Reply> {
    return this.ask(GUEST_ROUTES.execution, undefined, `?id=${executionId}&waitMs=${waitMs}`);
  }

  async cancel(executionId: string): Promise<Reply> {
    return this.ask(GUEST_ROUTES.cancelExecution, { executionId });
  }

  /** A file that a command wrote into the volume. */
  read(name: string): string {
    return readFileSync(join(this.volume, name), 'utf8');
  }

  residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  ask(route: GuestRoute, body?: unknown, query = ''): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const call = request({
      socketPath: join(this.dir, 'sock'),
      method: route.method,
      path: route.path + query,
      agent: false,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Reply['body'];
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  follow(executionId: string): Promise<Following> {
    const { promise, resolve, reject } = Promise.withResolvers<Following>();
    const call = request({
      socketPath: join(this.dir, 'sock'),
      path: `${GUEST_ROUTES.executionOutput.path}?id=${executionId}`,
      agent: false,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const lines: OutputLine[] = [];
      let rest = '';
      const ended = Promise.withResolvers<void>();
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const parts = (rest + text).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts.map((line) => JSON.parse(line) as OutputLine));
      });
      response.on('close', () => ended.resolve());
      response.on('error', () => undefined);
      resolve({
        lines,
        ended: ended.promise,
        text: (stream) => lines.map((line) => (line.stream === stream ? line.text : '')).join(''),
        pause: () => response.pause(),
        resume: () => response.resume(),
        leave: () => response.destroy(),
      });
    });
    call.end();
    return promise;
  }
}

/** Whether a process is running; false for a zombie. */
export const runs = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
