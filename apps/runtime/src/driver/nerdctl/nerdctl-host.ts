import { mkdir, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  DEFAULT_ADDRESS,
  findProgram,
  instanceOf,
  namespaceOf,
  openFilesLimit,
  readSubordinateIds,
} from '@berth/host-requirements';
import type { OperatorSettings } from '@berth/operator-file';
import type { Logger } from '@berth/telemetry';
import { BoxCgroups } from '../cgroup/box-cgroups.js';
import { openHierarchies, removeHierarchies } from '../cgroup/cgroup-hierarchies.js';
import { DriverError } from '../driver-error.js';
import { SharedFiles } from '../shared-files.js';
import { AgentDisks } from './agent-disk.js';
import { AgentGroups } from './agent-groups.js';
import type { ContainerdScope } from './containerd-call.js';
import { findBuildKit, type BuildKit } from './image-build/buildkit.js';
import { makeGuestKit, type GuestKit, type KitPrograms } from './guest-kit.js';
import { makeInsideFolder } from './inside-folder.js';
import { raiseHostLimits } from './host-limits.js';
import type { NerdctlScope } from './nerdctl-arguments.js';
import { AgentNetwork, type AgentNetworkOptions } from './network/agent-network.js';
import { TaskDisks } from './tasks/task-disk.js';

export interface NerdctlDriverOptions {
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  /** The program `nerdctl`. */
  readonly nerdctl: string;
  /** Socket of containerd; undefined: nerdctl's own default. */
  readonly address: string | undefined;
  /** Folder of the CNI plugins; undefined: nerdctl's own default. */
  readonly cniPath: string | undefined;
  /** nerdctl's own settings, by the names of their variables. */
  readonly nerdctlSettings?: Readonly<Record<string, string>>;
  /** Folder of the guest's kits; undefined: below the data folder. */
  readonly kits?: string;
  readonly operator: Pick<OperatorSettings, 'current'>;
  /** Name of the subordinate ids of agents. */
  readonly subidUser: string;
  /** Folders in which programs are looked for. */
  readonly path: string;
  /** Interval of the checks of the network policy, and the host's list of resolvers; usually the defaults. */
  readonly network?: Pick<AgentNetworkOptions, 'checkEveryMs' | 'hostResolvConf'>;
  readonly log: Logger;
}

/** What the driver has prepared on this host. */
export interface NerdctlHost {
  /** Distinguishes the installations of a host. */
  readonly instance: string;
  readonly program: string;
  /** Socket of containerd. */
  readonly address: string;
  /** All that nerdctl needs of this process's variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly scope: NerdctlScope;
  readonly containerd: ContainerdScope;
  /** A folder with the places of the mounts in every container. */
  readonly inside: string;
  readonly kit: GuestKit;
  /** Undefined: this host has none. */
  readonly buildKit: BuildKit | undefined;
  readonly disks: AgentDisks;
  readonly taskDisks: TaskDisks;
  readonly sharedFiles: SharedFiles;
  readonly cgroups: BoxCgroups;
  /** Folder for files that are needed for a moment. */
  readonly scratch: string;
  readonly groups: AgentGroups;
  /** Folder for the ids of containers that are being created. */
  readonly ids: string;
  /** Limit of open files of an agent's processes. */
  readonly openFiles: number;
  readonly network: AgentNetwork;
  /** Removes what is on the host, unless agents still run. */
  close(agentsLiveOn: boolean): Promise<void>;
}

const environmentOf = ({ nerdctlSettings, cniPath, path }: NerdctlDriverOptions): Record<string, string> => ({
  ...nerdctlSettings,
  ...(cniPath === undefined ? {} : { CNI_PATH: cniPath }),
  PATH: path,
  HOME: homedir(),
  TMPDIR: tmpdir(),
});

/** Prepares folders, control groups, the guest's kit and the network. Errors: `host_unsuitable`. */
export const openNerdctlHost = async (options: NerdctlDriverOptions): Promise<NerdctlHost> => {
  const { dataDir, guestMain, nerdctl, address, subidUser, kits } = options;
  const ids = await readSubordinateIds(subidUser);
  if (ids === undefined)
    throw new DriverError('host_unsuitable', `/etc/subuid and /etc/subgid have no range for ${subidUser}.`);
  const instance = await instanceOf(dataDir);
  const namespace = namespaceOf(instance);
  const own = join(dataDir, 'nerdctl');
  const scope = { namespace, address, dataRoot: join(own, 'data'), networks: join(own, 'networks') };
  const containerIds = join(own, 'ids');
  const scratch = join(own, 'scratch');
  const kitFolder = kits ?? join(dataDir, 'kit');
  for (const folder of [scope.dataRoot, scope.networks, containerIds, scratch, kitFolder])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  const hierarchies = await openHierarchies(namespace);
  if (hierarchies.length === 0)
    throw new DriverError('host_unsuitable', 'No control groups can freeze processes on this host.');
  await raiseHostLimits(options.log);
  const groups = new AgentGroups(hierarchies, namespace, ids);
  const kit = await makeGuestKit(kitFolder, guestMain, findKitPrograms(options.path), {
    npm: await findNpm(options.path),
    runc: findProgram('runc', options.path),
  });
  const prepared = {
    instance,
    program: nerdctl,
    address: address ?? DEFAULT_ADDRESS,
    environment: environmentOf(options),
    scope,
    containerd: { address: address ?? DEFAULT_ADDRESS, namespace },
    kit,
    buildKit: findBuildKit(options.path, kit.folder),
    disks: await AgentDisks.open(dataDir, ids),
    taskDisks: new TaskDisks(join(await realpath(dataDir), 'tasks'), ids),
    sharedFiles: new SharedFiles(join(dataDir, 'shared'), false),
    cgroups: new BoxCgroups(hierarchies),
    groups,
    inside: await makeInsideFolder(join(own, 'inside'), groups.mountPoints),
    ids: containerIds,
    scratch,
    openFiles: await openFilesLimit(),
  };
  // Last: nothing would remove it after a failure of the others.
  const network = await AgentNetwork.open({
    ...options.network,
    instance,
    path: options.path,
    resolvConf: join(own, 'resolv.conf'),
    settings: () => options.operator.current.runtime.network,
    log: options.log,
  });
  return {
    ...prepared,
    network,
    async close(agentsLiveOn) {
      await network.close(agentsLiveOn);
      if (!agentsLiveOn) await removeHierarchies(namespace);
    },
  };
};

/** Errors: `host_unsuitable`. */
const findKitPrograms = (path: string): KitPrograms => {
  const program = (name: string): string => {
    const found = findProgram(name, path);
    if (found === undefined) throw new DriverError('host_unsuitable', `The program ${name} is missing.`);
    return found;
  };
  return { bash: program('bash') };
};

/** The folder of the npm on the PATH, a link to `bin/npm-cli.js` in it; undefined: there is none, or another program. */
const findNpm = async (path: string): Promise<string | undefined> => {
  const program = findProgram('npm', path);
  if (program === undefined) return undefined;
  const main = await realpath(program);
  return basename(main) === 'npm-cli.js' ? dirname(dirname(main)) : undefined;
};
