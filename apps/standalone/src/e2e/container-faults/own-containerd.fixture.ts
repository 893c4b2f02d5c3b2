import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@berth/testing';

/** A containerd that a test may kill and stop, with its root, state and socket in a folder of its own. */
export class OwnContainerd {
  #process: ChildProcess | undefined;

  private constructor(private readonly folder: string) {}

  static async start(folder: string): Promise<OwnContainerd> {
    mkdirSync(folder, { recursive: true });
    const containerd = new OwnContainerd(folder);
    const { address } = containerd;
    const lines = [
      'version = 3',
      `root = '${folder}/root'`,
      `state = '${folder}/state'`,
      // A shim that is killed while it mounts a root file system leaves the mount of a layer here.
      `temp = '${folder}/temp'`,
      "disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime']",
      `[grpc]\naddress = '${address}'`,
      `[ttrpc]\naddress = '${address}.ttrpc'`,
    ];
    writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`);
    await containerd.startAgain();
    return containerd;
  }

  get address(): string {
    return join(this.folder, 'containerd.sock');
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('containerd does not run.');
    return pid;
  }

  /** Everything that it has written to its log. */
  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** Starts it if it does not run. Resolves when it accepts connections. */
  async startAgain(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) return;
    const log = openSync(join(this.folder, 'log'), 'a');
    const args = ['--config', join(this.folder, 'config.toml'), '--log-level', 'error'];
    this.#process = spawn('containerd', args, { stdio: ['ignore', log, log] });
    await eventually(async () => {
      const socket = connect(this.address);
      await once(socket, 'connect').finally(() => socket.destroy());
    });
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}
