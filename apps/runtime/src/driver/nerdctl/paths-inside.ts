import { guestEnv } from '@berth/guest-protocol';
import type { InsidePaths, RunAs } from '../driver.js';
import type { UserIds } from './image-user.js';

/** Where Berth's own files are in a container; only the guest can enter the folders that are not read-only. */
export const INSIDE = {
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

/** The kit's own shell. */
export const SHELL = `${INSIDE.kit}/bin/sh`;

/**
 * Names in the folder of an agent's disk: a rename from one to the other stays on one mount. `root`: what the agent has
 * written to its root file system.
 */
export const DISK = { volume: 'volume', staging: 'staging', root: 'root' } as const;

/** The guest's own files and programs: those of the image must not run with the rights of the guest. */
export const guestVariables: Readonly<Record<string, string>> = {
  [guestEnv.socket]: `${INSIDE.run}/guest.sock`,
  [guestEnv.logs]: INSIDE.logs,
  [guestEnv.journal]: INSIDE.journal,
  [guestEnv.shell]: SHELL,
  PATH: `${INSIDE.kit}/bin`,
  LC_ALL: 'C',
};

/** For images that name none. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `path`: that of the image. `workingDir`: where the program of an image runs; null for code that Berth brings. */
export const insidePathsOf = (path: string, workingDir: string | null): InsidePaths => ({
  volume: INSIDE.volume,
  tmp: INSIDE.tmp,
  code: workingDir ?? INSIDE.code,
  // The program of an image has its own Node, if any.
  path: workingDir === null ? `${INSIDE.kit}/bin:${path}` : `${path}:${INSIDE.kit}/bin`,
  storage: { volume: `${INSIDE.disk}/${DISK.volume}`, staging: `${INSIDE.disk}/${DISK.staging}` },
});

/** The user of agents whose image names none, or root. */
export const AGENT_IDS: UserIds = { uid: 1000, gid: 1000, groups: [] };

/**
 * The user of an agent's processes; the guest is 0, which the user namespace maps to an id without rights outside.
 * `setpriv` empties also the bounding set of capabilities, which a change of the user leaves as it is.
 */
export const runAsUser = ({ uid, gid, groups }: UserIds): RunAs => ({
  uid,
  gid,
  shell: SHELL,
  launcher: [
    `${INSIDE.kit}/lib/${LOADER}`,
    '--library-path',
    `${INSIDE.kit}/lib`,
    `${INSIDE.kit}/bin/setpriv`,
    `--reuid=${uid}`,
    `--regid=${gid}`,
    groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
  ],
});
