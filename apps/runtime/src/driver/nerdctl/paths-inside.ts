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

/** The kit's `initProgram`. */
export const INIT = `${INSIDE.kit}/lib/init`;

/** The kit's `joinProgram`. */
export const JOIN = `${INSIDE.kit}/lib/join`;

/** The kit's `becomeProgram`. */
export const BECOME = `${INSIDE.kit}/lib/become`;

/** The kit's `namespaceProgram`. */
export const HOLD_NAMESPACE = `${INSIDE.kit}/lib/hold-namespace`;

/** The kit's `sealProgram`. */
export const SEAL = `${INSIDE.kit}/lib/seal`;

/** The kit's runc, if it has one. */
export const RUNC = `${INSIDE.kit}/lib/runc`;

/** Node and npm: what Berth offers to programs, besides what their image has. */
const OFFERED = `${INSIDE.kit}/bin`;

const SHELLS = `${INSIDE.kit}/shell`;

/** The kit's own shell. */
export const SHELL = `${SHELLS}/sh`;

/** What the guest calls by name; no process of an agent has it on its `PATH`. */
const GUEST_PATH = `${INSIDE.kit}/guest`;

/** The kit's `fifoProgram`. */
export const FIFO = `${GUEST_PATH}/mkfifo`;

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
  PATH: GUEST_PATH,
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
  path: pathOf(path, workingDir === null),
  storage: { volume: `${INSIDE.disk}/${DISK.volume}`, staging: `${INSIDE.disk}/${DISK.staging}` },
});

/**
 * Code that Berth brings has Berth's Node; the program of an image has its own Node, if any. Nothing else of the kit comes
 * before a program of the image.
 */
const pathOf = (path: string, isBrought: boolean): string =>
  [...(isBrought ? [OFFERED, path] : [path, OFFERED]), SHELLS].join(':');

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

/**
 * The capabilities of root inside, in the user namespace of the agent's processes, by their bits: CHOWN, DAC_OVERRIDE,
 * FOWNER, FSETID, SETGID, SETUID and NET_BIND_SERVICE.
 */
const ROOT_CAPABILITIES = 0b100_1101_1011;

/** The namespace of an agent that is root inside; only the guest can follow the link. */
const NAMESPACE = `${INSIDE.run}/user-namespace`;

/** The user of the guest of such an agent, inside. */
export const guestUserOf = (user: BoxSpec['user']): number =>
  user === 'root' ? GUEST_OF_ROOT : GUEST_OF_USER;

/** The settings of the guest of such an agent. The guest of root creates its user namespace. */
export const guestVariablesOf = (user: BoxSpec['user']): Readonly<Record<string, string>> =>
  user === 'root'
    ? {
        ...guestVariables,
        [guestEnv.namespace]: NAMESPACE,
        [guestEnv.holdNamespace]: HOLD_NAMESPACE,
      }
    : guestVariables;

/** The user of an agent's processes. */
export const runAsUser = ({ uid, gid, groups }: UserIds): RunAs => {
  const isRoot = uid === 0;
  const programs: readonly [string, ...string[]] = isRoot ? [SEAL, NAMESPACE, BECOME] : [BECOME];
  const ids = [uid, gid, isRoot ? ROOT_CAPABILITIES : 0, ...groups].map(String);
  return { uid, gid, shell: SHELL, launcher: [...programs, ...ids, '--'] };
};
