import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { run, type CommandLine } from '../peers/command-line.js';
import { BerthProgram } from '../programs/berth-program.js';
import { childEnvironment, type Environment } from '../programs/child-environment.js';

/** The image of every container of a comparison, Berth's and the peer's. */
export const IMAGE = 'docker.io/library/debian:12';

/** The containerd that `npm run bench -- --containers` has started for this run. */
export class ContainerHost {
  private constructor(
    private readonly address: string,
    private readonly cniPath: string,
    private readonly images: string,
    private readonly env: Environment,
  ) {}

  static of({ env }: BenchContext): ContainerHost {
    const { CONTAINERD_ADDRESS: address, CNI_PATH: cniPath, BERTH_TEST_IMAGES: images } = env;
    if (address === undefined || cniPath === undefined || images === undefined)
      throw new BenchError('This part needs containers: npm run bench -- --containers');
    return new ContainerHost(address, cniPath, images, env);
  }

  /** nerdctl in a containerd namespace, as an operator calls it. */
  nerdctl(namespace: string, dataRoot: string): CommandLine {
    return {
      command: 'nerdctl',
      args: [
        `--address=${this.address}`,
        `--namespace=${namespace}`,
        `--data-root=${dataRoot}`,
        '--cgroup-manager=cgroupfs',
      ],
      env: childEnvironment(this.env, {}),
    };
  }

  /** Loads the image into the namespace of that nerdctl. */
  load(nerdctl: CommandLine): Promise<void> {
    return run(nerdctl, 'load', '--quiet', `--input=${join(this.images, 'debian.tar')}`);
  }

  /** A whole Berth whose agents are containers. */
  async berth({ folder, env }: BenchContext, settings: Environment = {}): Promise<BerthProgram> {
    const data = join(folder, 'container-berth');
    const runtimeData = join(data, 'runtime');
    mkdirSync(runtimeData, { recursive: true, mode: 0o700 });
    const namespace = namespaceOf(await instanceOf(runtimeData));
    await this.load(this.nerdctl(namespace, join(folder, 'loaded')));
    const own = {
      BERTH_RUNTIME: 'nerdctl',
      BERTH_HOST: '127.0.0.1',
      CONTAINERD_ADDRESS: this.address,
      CNI_PATH: this.cniPath,
    };
    return BerthProgram.start(data, env, { settings: { ...own, ...settings } });
  }
}
