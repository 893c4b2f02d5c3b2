import { guestEnv } from '@berth/guest-protocol';
import type { BoxSpec } from '../box-spec.js';
import type { InsidePaths, RunAs } from '../driver.js';
import type { UserIds } from './image-user.js';

/** Where Berth's own files are in a container; only the guest can enter the folders that are not read-only. */
export const INSIDE = {
  all: '/.berth',
  kit: '/.berth/kit',
  code: '/.berth/code',
  run: '/.berth/run',
  logs: '/.berth/logs',
  journal: '/.berth/journal',
  disk: '/.berth/disk',
  gate: '/.berth/gate',
  groups: '/.berth/groups',
  volume: '/workspace',
  tmp: '/tmp',
} as const;

/** The dynamic loader among the kit's libraries. */
export const LOADER = 'ld.so';

/** The kit's `joinProgram`. */
export const JOIN = `${INSIDE.kit}/lib/join`;

/** The kit's `sealProgram`. */
export const SEAL = `${INSIDE.kit}/lib/seal`;

/** The kit's runc, if it has one. */
export const RUNC = `${INSIDE.kit}/lib/runc`;

/** The kit's own shell. */
export const SHELL = `${INSIDE.kit}/bin/sh`;

/**
 * Names in the folder of an agent's disk: a rename from one to the other stays on one mount. `root`: what the agent has
 * written to its root file system.
 */
export const DISK = { volume: 'volume', staging: 'staging', root: 'root' } as const;

/** The guest's own files and programs: those of the image must not run with the rights of the guest. */
const guestVariables: Readonly<Record<string, string>> = {
  [guestEnv.socket]: `${INSIDE.run}/guest.sock`,
  [guestEnv.logs]: INSIDE.logs,
  [guestEnv.journal]: INSIDE.journal,
  [guestEnv.shell]: SHELL,
  PATH: `${INSIDE.kit}/bin`,
  LC_ALL: 'C',
};

/** For images that name none. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * `path`: that of the image. `workingDir`: where the program of an image runs; null for code that Berth brings.
 * `volumePath`: null for the usual one.
 */
export const insidePathsOf = (
  path: string,
  workingDir: string | null,
  volumePath: string | null = null,
): InsidePaths => ({
  volume: volumePath ?? INSIDE.volume,
  tmp: INSIDE.tmp,
  code: workingDir ?? INSIDE.code,
  // The program of an image has its own Node, if any.
  path: workingDir === null ? `${INSIDE.kit}/bin:${path}` : `${path}:${INSIDE.kit}/bin`,
  storage: { volume: `${INSIDE.disk}/${DISK.volume}`, staging: `${INSIDE.disk}/${DISK.staging}` },
});

/** The user of agents whose image names none, or one that they may not be. */
export const AGENT_IDS: UserIds = { uid: 1000, gid: 1000, groups: [] };

/** Root inside. */
export const ROOT_IDS: UserIds = { uid: 0, gid: 0, groups: [] };

/** The user of the guest if the agent's processes are not root: 0, an id without privileges outside. */
const GUEST_OF_USER = 0;

/**
 * The user of a guest whose agent is root inside. The agent's user namespace does not map it, so that no right inside
 * reaches the guest's processes and files.
 */
export const GUEST_OF_ROOT = 65_533;

/** The capabilities of root inside, in the user namespace of the agent's processes. */
const ROOT_CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'setgid',
  'setuid',
  'net_bind_service',
] as const;

/** The namespace of an agent that is root inside; only the guest can follow the link. */
const NAMESPACE = `${INSIDE.run}/user-namespace`;

/** Starts a program of the kit in every image. */
const ofKit = (program: string): readonly [string, ...string[]] => [
  `${INSIDE.kit}/lib/${LOADER}`,
  '--library-path',
  `${INSIDE.kit}/lib`,
  `${INSIDE.kit}/${program}`,
];

/** The user of the guest of such an agent, inside. */
export const guestUserOf = (user: BoxSpec['user']): number =>
  user === 'root' ? GUEST_OF_ROOT : GUEST_OF_USER;

/** The settings of the guest of such an agent. The guest of root creates its user namespace. */
export const guestVariablesOf = (user: BoxSpec['user']): Readonly<Record<string, string>> =>
  user === 'root'
    ? {
        ...guestVariables,
        [guestEnv.namespace]: NAMESPACE,
        [guestEnv.unshare]: [...ofKit('lib/unshare'), '--user', '--', SHELL].join(' '),
      }
    : guestVariables;

/**
 * The user of an agent's processes. `setpriv` limits also the bounding set of capabilities, which a change of the user
 * leaves as it is.
 */
export const runAsUser = ({ uid, gid, groups }: UserIds): RunAs => ({
  uid,
  gid,
  shell: SHELL,
  launcher: [
    ...(uid === 0 ? enterNamespace : ofKit('bin/setpriv')),
    `--reuid=${uid}`,
    `--regid=${gid}`,
    groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
    `--bounding-set=${['-all', ...(uid === 0 ? ROOT_CAPABILITIES.map((name) => `+${name}`) : [])].join(',')}`,
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
  ],
});

const enterNamespace: readonly [string, ...string[]] = [
  ...ofKit('lib/nsenter'),
  `--user=${NAMESPACE}`,
  '--',
  SEAL,
  ...ofKit('bin/setpriv'),
];
