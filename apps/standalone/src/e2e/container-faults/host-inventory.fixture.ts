import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Where an installation is on its host. */
export interface Place {
  /** Socket of containerd. */
  readonly address: string;
  /** Folder of that containerd. */
  readonly containerdFolder: string;
  readonly namespace: string;
  /** The runtime's data folder. */
  readonly runtimeData: string;
}

/** What an installation has on its host, by kind. */
export type Inventory = Readonly<Record<string, readonly string[]>>;

const GROUPS = '/sys/fs/cgroup';
const AGENT = /agt_[0-9a-z]+|dep_[0-9a-z]+/;

/** Everything that exists for agents and tasks: empty if none has a container. */
export const inventoryOf = ({ address, containerdFolder, namespace, runtimeData }: Place): Inventory => {
  const instance = namespace.replace('berth-', '');
  const backing = lines('losetup', ['--noheadings', '--list', '--output', 'BACK-FILE']);
  return {
    containers: lines('ctr', [
      `--address=${address}`,
      `--namespace=${namespace}`,
      'containers',
      'list',
      '-q',
    ]),
    shims: shimsOf(namespace).map(String),
    'root file systems': mountPointsBelow(join(containerdFolder, 'state')),
    volumes: mountPointsBelow(runtimeData).filter((point) => AGENT.test(point)),
    'loop devices': backing.filter((file) => file.startsWith(runtimeData)),
    'control groups': groupsOf(namespace),
    'network interfaces': readFileSync('/proc/self/net/dev', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(':')[0] ?? '')
      .filter((name) => name.startsWith(`b${instance.slice(0, 7)}-`)),
    'folders of nerdctl': nerdctlFolders(runtimeData, namespace),
  };
};

/** The innermost first. */
export const mountPointsBelow = (folder: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${folder}/`))
    .toReversed();

/** The kinds of which there is something, for a message. */
export const described = (inventory: Inventory): readonly string[] =>
  Object.entries(inventory).flatMap(([kind, names]) => names.map((name) => `${kind}: ${name}`));

/** The shims of the namespace, the newest first. */
export const shimsOf = (namespace: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const words = read(`/proc/${pid}/cmdline`).split('\0');
      // Without the short-lived calls that start and delete a shim.
      const isShim = (words[0] ?? '').endsWith('containerd-shim-runc-v2') && words.includes(namespace);
      return isShim && !words.includes('start') && !words.includes('delete');
    })
    .toSorted((one, other) => other - one);

/** The processes in the control groups of the namespace whose parent is that shim: of a container, its first. */
export const firstProcessOf = (shim: number): number | undefined => {
  const children = read(`/proc/${shim}/task/${shim}/children`).trim().split(' ').filter(Boolean);
  return children.map(Number).find((pid) => !isRunc(pid));
};

const isRunc = (pid: number): boolean => {
  try {
    return (
      readlinkSync(`/proc/${pid}/exe`).endsWith('/runc') &&
      !read(`/proc/${pid}/cmdline`).startsWith('runc\0init')
    );
  } catch {
    return true;
  }
};

const groupsOf = (namespace: string): readonly string[] =>
  readdirSync(GROUPS)
    .map((hierarchy) => join(GROUPS, hierarchy, namespace))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name)),
    );

/** The folders of containers and the names that nerdctl keeps. */
const nerdctlFolders = (runtimeData: string, namespace: string): readonly string[] => {
  const root = join(runtimeData, 'nerdctl', 'data');
  return readdirSync(root).flatMap((store) =>
    ['containers', 'names']
      .map((kind) => join(root, store, kind, namespace))
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
      .filter((path) => !path.endsWith('.lock')),
  );
};

const lines = (program: string, args: readonly string[]): readonly string[] =>
  execFileSync(program, args, { encoding: 'utf8' }).split('\n').filter(Boolean);

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
