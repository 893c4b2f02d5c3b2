import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/**
 * A real nats-server on its own port that can be killed, frozen and restarted; with JetStream unless configured
 * otherwise.
 */
export class NatsServer {
  #process: ChildProcess | undefined;
  #config: string | undefined;

  private constructor(
    readonly port: number,
    private readonly storeDir: string,
    private readonly extra: readonly string[],
  ) {}

  static async start(...extra: string[]): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'berth-nats-')), extra);
    await server.resume();
    return server;
  }

  /** Starts a server with this configuration; JetStream is off unless the configuration enables it. */
  static async configured(config: string): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'berth-nats-')), []);
    await server.reconfigure(config);
    return server;
  }

  /** Restarts it with another configuration, on the same port and store. */
  async reconfigure(config: string): Promise<void> {
    await this.kill();
    this.#config = join(this.storeDir, 'nats.conf');
    await writeFile(this.#config, config.replaceAll('$STORE', JSON.stringify(this.storeDir)));
    await this.resume();
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Restarts it on the same port and store. */
  async resume(): Promise<void> {
    const store = this.#config === undefined ? ['-js', '-sd', this.storeDir] : ['-c', this.#config];
    const args = ['-a', '127.0.0.1', '-p', String(this.port), ...store, ...this.extra];
    this.#process = spawn('nats-server', args, { stdio: 'ignore' });
    await eventually(() => reachable(this.port));
  }

  /** Resolves when every thread is stopped: on a busy machine they run on for a while after the signal. */
  async freeze(): Promise<void> {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('The server is not running.');
    process.kill(pid, 'SIGSTOP');
    await eventually(async () => (await threadStates(pid)).every((state) => state === 'T'), {
      intervalMs: 1,
    });
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Ends it with SIGKILL by default; with SIGTERM it persists its state first. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
  }

  /** Deletes the store; only while the server is not running. */
  async wipe(): Promise<void> {
    await rm(this.storeDir, { recursive: true, force: true });
  }

  get store(): string {
    return this.storeDir;
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.wipe();
  }
}

/** Returns the states of a process's threads as Linux shows them. */
const threadStates = async (pid: number): Promise<string[]> => {
  const threads = await readdir(`/proc/${pid}/task`);
  return Promise.all(
    threads.map(async (thread) => {
      const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      // The name in parentheses may contain spaces.
      return stat.charAt(stat.lastIndexOf(')') + 2);
    }),
  );
};

const reachable = (port: number): Promise<true> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', reject);
  });
