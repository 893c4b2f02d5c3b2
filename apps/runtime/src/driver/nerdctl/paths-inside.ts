import { guestEnv } from '@berth/guest-protocol';
import type { InsidePaths, RunAs } from '../driver.js';

/** Where Berth's own files are in a container; only the guest can enter the folders that are not read-only. */
export const INSIDE = {
  kit: '/.berth/kit',
  code: '/.berth/code',
  run: '/.berth/run',
  logs: '/.berth/logs',
  journal: '/.berth/journal',
  disk: '/.berth/disk',
  volume: '/workspace',
  tmp: '/tmp',
} as const;

/** The dynamic loader among the kit's libraries. */
export const LOADER = 'ld.so';

/** Names in the folder of an agent's disk: a rename from one to the other stays on one mount. */
export const DISK = { volume: 'volume', staging: 'staging' } as const;

/** Where the guest has its own files. */
export const guestVariables: Readonly<Record<string, string>> = {
  [guestEnv.socket]: `${INSIDE.run}/guest.sock`,
  [guestEnv.logs]: INSIDE.logs,
  [guestEnv.journal]: INSIDE.journal,
};

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export const insidePaths: InsidePaths = {
  volume: INSIDE.volume,
  tmp: INSIDE.tmp,
  code: INSIDE.code,
  path: `${INSIDE.kit}/bin:${SYSTEM_PATH}`,
  storage: { volume: `${INSIDE.disk}/${DISK.volume}`, staging: `${INSIDE.disk}/${DISK.staging}` },
};

const [UID, GID] = [1000, 1000];

/**
 * The user of an agent's processes; the guest is 0, which the user namespace maps to an id without rights outside.
 * `setpriv` empties also the bounding set of capabilities, which a change of the user leaves as it is.
 */
export const AGENT_USER: RunAs = {
  uid: UID,
  gid: GID,
  launcher: [
    `${INSIDE.kit}/lib/${LOADER}`,
    '--library-path',
    `${INSIDE.kit}/lib`,
    `${INSIDE.kit}/bin/setpriv`,
    `--reuid=${UID}`,
    `--regid=${GID}`,
    '--clear-groups',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
  ],
};
