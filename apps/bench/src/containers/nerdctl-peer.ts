import { readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupMounts } from '@berth/host-requirements';
import type { BenchContext } from '../context.js';
import { timed } from '../measure/loops.js';
import { run, type CommandLine } from '../peers/command-line.js';
import { IMAGE, type ContainerHost } from './container-host.js';

const NAMESPACE = 'berth-bench-peer';

/** Containers of the same image, on the same containerd, by nerdctl's command line alone. */
export class NerdctlPeer {
  readonly #names = new Set<string>();
  #count = 0;

  private constructor(private readonly nerdctl: CommandLine) {}

  static async open(host: ContainerHost, { folder }: BenchContext): Promise<NerdctlPeer> {
    const nerdctl = host.nerdctl(NAMESPACE, join(folder, 'peer'));
    await host.load(nerdctl);
    return new NerdctlPeer(nerdctl);
  }

  /** Creates and starts a container that does nothing, and returns its name and how long that took in milliseconds. */
  async create(): Promise<{ readonly name: string; readonly ms: number }> {
    const name = `peer-${(this.#count += 1)}`;
    this.#names.add(name);
    const options = ['--detach', '--pull=never', '--network=none', `--name=${name}`];
    const ms = await timed(() => run(this.nerdctl, 'run', ...options, IMAGE, 'sleep', 'infinity'));
    return { name, ms };
  }

  exec(name: string, command: readonly string[]): Promise<void> {
    return run(this.nerdctl, 'exec', name, ...command);
  }

  stop(name: string): Promise<void> {
    return run(this.nerdctl, 'stop', '--time=0', name);
  }

  start(name: string): Promise<void> {
    return run(this.nerdctl, 'start', name);
  }

  async remove(name: string): Promise<void> {
    this.#names.delete(name);
    await run(this.nerdctl, 'rm', '--force', name);
  }

  async close(): Promise<void> {
    for (const name of this.#names) await this.remove(name);
    for (const { path } of cgroupMounts(await readFile('/proc/mounts', 'utf8')))
      await rmdir(join(path, NAMESPACE)).catch(() => undefined);
  }
}
