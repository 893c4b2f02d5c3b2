import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { containerTestHost, GitServer, ImageRegistry } from '@berth/testing';
import { Api } from '../api.fixture.js';
import { startStandaloneStack, type StandaloneStack } from '../stack.fixture.js';
import { inventoryOf, mountPointsBelow, type Inventory, type Place } from './host-inventory.fixture.js';
import { NerdctlInterceptor } from './nerdctl-interceptor.fixture.js';
import { OwnContainerd } from './own-containerd.fixture.js';

const IMAGE = 'shell';
const REPOSITORY = 'repository';
/** What every deployed version runs: a deployment whose program does not respond on its port fails only after a minute. */
const SERVE = 'busybox httpd -f -p $PORT -h /';

/** Where deployments come from. */
interface Sources {
  readonly git: GitServer;
  readonly registry: ImageRegistry;
}

/** A whole installation with a containerd of its own, so that faults in it affect no other lane. */
export class ContainerLane {
  readonly api = new Api(() => this.stack);

  private constructor(
    private readonly folder: string,
    readonly place: Place,
    readonly containerd: OwnContainerd,
    readonly nerdctl: NerdctlInterceptor,
    readonly stack: StandaloneStack,
    private readonly sources: Sources,
  ) {}

  static async open(folder: string): Promise<ContainerLane> {
    mkdirSync(folder);
    // The root user of a user namespace must be able to enter the folder of its root file system.
    for (const path of [dirname(folder), folder]) chmodSync(path, 0o711);
    const dataDir = join(folder, 'data');
    const runtimeData = join(dataDir, 'runtime');
    mkdirSync(runtimeData, { recursive: true, mode: 0o700 });
    const [git, registry] = await Promise.all([GitServer.start(), ImageRegistry.start()]);
    await git.commit(REPOSITORY, {
      'berth.json': JSON.stringify({ build: 'echo built > built', start: `exec /bin/${SERVE}` }),
    });
    const containerdFolder = join(folder, 'containerd');
    const containerd = await OwnContainerd.start(containerdFolder);
    const { address } = containerd;
    const namespace = namespaceOf(await instanceOf(runtimeData));
    const { images, cniPath } = containerTestHost();
    const scope = [`--address=${address}`, `--namespace=${namespace}`];
    execFileSync('nerdctl', [...scope, 'load', '--quiet', `--input=${join(images, `${IMAGE}.tar`)}`]);
    const nerdctl = new NerdctlInterceptor(join(folder, 'nerdctl'));
    const config = join(folder, 'operator.yaml');
    writeFileSync(
      config,
      `runtime: { image: "berth.test/${IMAGE}:1" }
deploy: { gitHosts: [{ host: "${git.host}", insecure: true }], registries: ["${registry.host}"] }
`,
    );
    const stack = await startStandaloneStack(dataDir, {
      BERTH_RUNTIME: 'nerdctl',
      BERTH_HOST: '127.0.0.1',
      BERTH_NERDCTL: nerdctl.program,
      BERTH_CONFIG: config,
      BERTH_WARM_SLEEP_SECONDS: '1',
      CONTAINERD_ADDRESS: address,
      CNI_PATH: cniPath,
      GIT_SSL_CAINFO: git.caFile,
    });
    const place = { address, containerdFolder, namespace, runtimeData };
    return new ContainerLane(folder, place, containerd, nerdctl, stack, { git, registry });
  }

  get repository(): string {
    return this.sources.git.urlOf(REPOSITORY);
  }

  get inventory(): Inventory {
    return inventoryOf(this.place);
  }

  /** Makes an image that the host does not have. Returns its reference. */
  async newImage(name: string): Promise<string> {
    const root = join(this.folder, 'image');
    mkdirSync(root, { recursive: true });
    copyFileSync('/usr/bin/busybox', join(root, 'busybox'));
    // Without a file of its own, the image would equal the previous one.
    writeFileSync(join(root, 'name'), name);
    await this.sources.registry.push(name, '1', root, { Cmd: ['/busybox', 'sh', '-c', `exec /${SERVE}`] });
    return `${this.sources.registry.host}/${name}:1`;
  }

  async close(): Promise<void> {
    this.nerdctl.disarm();
    await this.containerd.startAgain();
    await this.stack.stop();
    this.removeRest();
    await this.containerd.stop();
    await Promise.all([this.sources.git.stop(), this.sources.registry.stop()]);
  }

  /** Removes what a failed test has left, because a folder with a mount below it cannot be deleted. */
  private removeRest(): void {
    const { containers = [] } = this.inventory;
    if (containers.length > 0) {
      const { address, namespace, runtimeData } = this.place;
      const scope = [
        `--address=${address}`,
        `--namespace=${namespace}`,
        `--data-root=${join(runtimeData, 'nerdctl', 'data')}`,
      ];
      execFileSync('nerdctl', [...scope, 'rm', '--force', ...containers]);
    }
    for (const point of mountPointsBelow(this.folder)) execFileSync('umount', ['--lazy', point]);
  }
}
