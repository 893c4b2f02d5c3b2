import type { BoxSpec } from '../box-spec.js';
import { GUEST_LIMITS, type GroupMount } from './agent-groups.js';
import { DISK, INSIDE } from './paths-inside.js';

/** The arguments that every call to nerdctl has. */
export interface NerdctlScope {
  /** The containerd namespace of this installation. */
  readonly namespace: string;
  /** Socket of containerd; undefined: nerdctl's own default. */
  readonly address: string | undefined;
  /** Folder of nerdctl's state of this installation. */
  readonly dataRoot: string;
  /** Folder of the network configurations of this installation. */
  readonly networks: string;
}

/** Folders and files of the host that a container is created with. */
export interface ContainerParts {
  readonly image: string;
  /** containerd's name of the runtime; undefined: its default. */
  readonly runtime: string | undefined;
  /** Name of the subordinate ids. */
  readonly subidUser: string;
  /** A folder with a place for everything that is mounted below it. */
  readonly inside: string;
  /** The guest with its Node and libraries. */
  readonly kit: string;
  /** The agent's code; null: it is in the image. */
  readonly code: string | null;
  /** The folder with the agent's volume and its staging folder. */
  readonly disk: string;
  /** The agent's `/etc/resolv.conf`. */
  readonly resolvConf: string;
  /** For the agent's control groups. */
  readonly groups: readonly GroupMount[];
  /** The control group for the container's own; undefined: nerdctl's choice. */
  readonly groupParent: string | undefined;
  /** File for the id of the container, which is written before anything is created; must not exist. */
  readonly idFile: string;
  /** The guest's command line. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Limit of every process. */
  readonly openFiles: number;
}

export const LABELS = { instance: 'berth.instance', agent: 'berth.agent', epoch: 'berth.epoch' } as const;

/**
 * What the guest needs to start processes as the agent's user, end them and change its files. They count only inside
 * the user namespace; the agent's processes have none.
 */
const GUEST_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'KILL',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_PTRACE',
] as const;

/** Also for a guest that maps its root into the user namespace of an agent that is root inside. */
const GUEST_OF_ROOT_CAPABILITIES = [...GUEST_CAPABILITIES, 'SETFCAP'] as const;

/** Shares of the memory limit; together a half. */
const MEMORY_FOLDERS: readonly { readonly path: string; readonly share: number; readonly mode: string }[] = [
  { path: INSIDE.tmp, share: 0.25, mode: '1777' },
  { path: '/var/tmp', share: 0.0625, mode: '1777' },
  { path: '/run', share: 0.0625, mode: '0755' },
];
const SHARED_MEMORY_SHARE = 0.125;

/** Options that precede every command of nerdctl. */
export const scopeArguments = ({ namespace, address, dataRoot, networks }: NerdctlScope): string[] => [
  `--namespace=${namespace}`,
  ...(address === undefined ? [] : [`--address=${address}`]),
  `--data-root=${dataRoot}`,
  `--cni-netconfpath=${networks}`,
  '--cgroup-manager=cgroupfs',
];

/** A name that says what the container was started for: labels of an image can imitate ours, but not its name. */
export const containerName = ({ agentId, epoch }: Pick<BoxSpec, 'agentId' | 'epoch'>): string =>
  `${agentId}.${epoch}`;

/** Starts a container that was only created. */
export const startArguments = (id: string): string[] => ['start', id];

/** Whether something is done between the creation of a container and its start. */
export const isCreatedFirst = ({ rootFileSystem, user }: BoxSpec): boolean =>
  rootFileSystem === 'writable' || user === 'root';

/** Creates a container, and starts it unless `isCreatedFirst`; prints its id. */
export const runArguments = (spec: BoxSpec, instance: string, parts: ContainerParts): string[] => {
  const { agentId, epoch } = spec;
  const [entry, ...args] = parts.command;
  return [
    ...(isCreatedFirst(spec) ? ['create'] : ['run', '--detach']),
    '--pull=never',
    `--name=${containerName(spec)}`,
    `--label=${LABELS.instance}=${instance}`,
    `--label=${LABELS.agent}=${agentId}`,
    `--label=${LABELS.epoch}=${epoch}`,
    `--cidfile=${parts.idFile}`,
    ...(parts.runtime === undefined ? [] : [`--runtime=${parts.runtime}`]),
    '--log-driver=none',
    '--network=none',
    ...isolation(spec, parts.subidUser),
    ...(spec.rootFileSystem === 'read-only' ? ['--read-only'] : []),
    ...(parts.groupParent === undefined ? [] : [`--cgroup-parent=${parts.groupParent}`]),
    ...limits(spec, parts),
    ...mounts(spec, parts),
    ...Object.entries(parts.env).map(([name, value]) => `--env=${name}=${value}`),
    '--workdir=/',
    `--entrypoint=${entry}`,
    parts.image,
    ...args,
  ];
};

const isolation = ({ user }: BoxSpec, subidUser: string): string[] => [
  `--userns-remap=${subidUser}`,
  '--user=0:0',
  '--cap-drop=ALL',
  ...(user === 'root' ? GUEST_OF_ROOT_CAPABILITIES : GUEST_CAPABILITIES).map(
    (capability) => `--cap-add=${capability}`,
  ),
  '--security-opt=no-new-privileges',
  // The network belongs to the outer user namespace, in which root inside has no capabilities.
  ...(user === 'root' ? ['--sysctl=net.ipv4.ip_unprivileged_port_start=0'] : []),
];

/**
 * What a user has by default, the kernel gives once to all containers of a host: it counts their signals that are pending and
 * their POSIX message queues as those of root, too. One of the queues has the kernel's default size.
 */
export const SHARED_LIMITS = ['--ulimit=sigpending=1024:1024', '--ulimit=msgqueue=102400:102400'] as const;

const limits = ({ limits: { memoryBytes, cpus } }: BoxSpec, { openFiles }: ContainerParts): string[] => [
  `--memory=${GUEST_LIMITS.memoryBytes}`,
  `--cpus=${cpus}`,
  `--pids-limit=${GUEST_LIMITS.processes}`,
  `--ulimit=nofile=${openFiles}:${openFiles}`,
  ...SHARED_LIMITS,
  `--shm-size=${Math.floor(memoryBytes * SHARED_MEMORY_SHARE)}`,
  ...MEMORY_FOLDERS.map(
    ({ path, share, mode }) => `--tmpfs=${path}:exec,mode=${mode},size=${Math.floor(memoryBytes * share)}`,
  ),
];

const mounts = (
  { guestFolders, volumePath }: BoxSpec,
  { inside, kit, code, disk, resolvConf, groups }: ContainerParts,
): string[] =>
  [
    // Otherwise root inside could replace what is below it, which the guest trusts.
    [inside, INSIDE.all, 'ro'],
    [kit, INSIDE.kit, 'ro'],
    [resolvConf, '/etc/resolv.conf', 'ro'],
    ...(code === null ? [] : [[code, INSIDE.code, 'ro']]),
    [guestFolders.run, INSIDE.run, 'rw'],
    [guestFolders.logs, INSIDE.logs, 'rw'],
    [guestFolders.journal, INSIDE.journal, 'rw'],
    [disk, INSIDE.disk, 'rw'],
    [`${disk}/${DISK.volume}`, volumePath ?? INSIDE.volume, 'rw'],
    ...groups.map(({ from, to }) => [from, to, 'rw']),
  ].map(([from, to, mode]) => `--volume=${from}:${to}:${mode}`);

/** Removes containers, running or not. */
export const removeArguments = (ids: readonly string[]): string[] => ['rm', '--force', '--volumes', ...ids];

/** Lists the containers of an installation, running or not, as lines of JSON. */
export const listArguments = (instance: string): string[] => [
  'ps',
  '--all',
  '--no-trunc',
  '--format=json',
  `--filter=label=${LABELS.instance}=${instance}`,
];
