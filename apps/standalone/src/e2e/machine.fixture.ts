import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeNerdctlFull } from './nerdctl-full.fixture.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const PROGRAM = join(REPOSITORY, 'tools/containers/machine.mjs');
/** The checkout of Berth on the machine. */
export const CHECKOUT = '/opt/berth';
const MAX_OUTPUT = 16 * 1024 * 1024;

const execute = promisify(execFile);

/** A machine with a systemd of its own, on which this checkout is in /opt/berth. It shares the network of the test. */
export class Machine {
  private constructor(
    private readonly child: ChildProcess,
    private readonly pid: number,
  ) {}

  /** `folders` are at their place here by their place there. */
  static async start(folder: string, folders: Readonly<Record<string, string>> = {}): Promise<Machine> {
    mkdirSync(folder, { mode: 0o755 });
    const binds = Object.entries({ ...folders, [CHECKOUT]: REPOSITORY }).map(([to, from]) => `${from}=${to}`);
    const child = spawn(process.execPath, [PROGRAM, folder, ...binds], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [printed] = (await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('The machine did not start.'))),
    ])) as [Buffer];
    return new Machine(child, Number(printed.toString()));
  }

  /** The programs of the nerdctl-full archive and its unit, where unpacking it in /usr/local puts them. */
  installContainerd(): void {
    writeNerdctlFull(this.path('/usr/local'));
  }

  /** A path on the machine, for this process. */
  path(path: string): string {
    return join('/proc', String(this.pid), 'root', path);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content, { mode: 0o600 });
  }

  /** Runs a command in a shell as root and returns what it printed; throws an error with its output if it fails. */
  async run(command: string): Promise<string> {
    const enter = [`--target=${String(this.pid)}`, '--mount', '--pid', '--cgroup', '--root', '--wd'];
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
    const { stdout } = await execute(
      'nsenter',
      [...enter, 'bash', '--norc', '-euo', 'pipefail', '-c', command],
      {
        env,
        maxBuffer: MAX_OUTPUT,
      },
    );
    return stdout.trim();
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
  }
}
