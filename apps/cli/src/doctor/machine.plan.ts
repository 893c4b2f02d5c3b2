import { WANTED_OPEN_FILES, type CgroupMount } from '@berth/host-requirements';
import { failed, ok, warning, type DoctorCheck } from './doctor-check.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** The oldest Node that the libraries support. */
const LEAST_NODE = [22, 15] as const;
/** Berth with its embedded parts takes about half of it. */
const LEAST_MEMORY = GIB;
const ENOUGH_MEMORY = 2 * GIB;
const LEAST_DISK = GIB;
const ENOUGH_DISK = 10 * GIB;
/** What limits the memory, processes and processor time of agents in containers. */
const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;

/** `version` is that of `process.versions.node`. */
export const nodeCheck = (version: string): DoctorCheck => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  return isEnough
    ? ok('Node', version)
    : failed(
        'Node',
        `This is ${version}; Berth needs ${LEAST_NODE.join('.')} or newer: "npm start" installs one.`,
      );
};

/** Of a disk with that many free bytes. */
export const freeSpaceCheck = (name: string, free: number): DoctorCheck => {
  const text = `${sizeOf(free)} free`;
  if (free < LEAST_DISK) return failed(name, `${text}; Berth needs ${sizeOf(LEAST_DISK)}: make space.`);
  return free < ENOUGH_DISK
    ? warning(name, `${text}; the log and the volumes of agents soon need more: make space.`)
    : ok(name, text);
};

/** `text` is that of `/proc/meminfo`. */
export const memoryCheck = (text: string): DoctorCheck => {
  const [total, available] = ['MemTotal', 'MemAvailable'].map((name) => bytesOf(text, name));
  if (total === undefined || available === undefined)
    return warning('memory', '/proc/meminfo does not say how much there is.');
  const found = `${sizeOf(total)}, ${sizeOf(available)} of it available`;
  if (total < LEAST_MEMORY)
    return failed('memory', `${found}; Berth needs ${sizeOf(LEAST_MEMORY)}: add some.`);
  return available < ENOUGH_MEMORY
    ? warning('memory', `${found}; agents need theirs besides Berth: add some, or end other programs.`)
    : ok('memory', found);
};

/** `delegated` are the controllers of the control group of this process in version 2. */
export const cgroupCheck = (mounts: readonly CgroupMount[], delegated: readonly string[]): DoctorCheck => {
  const unified = mounts.some(({ version }) => version === 2);
  const legacy = mounts.filter(({ version }) => version === 1).flatMap(({ controllers }) => controllers);
  if (!unified && legacy.length === 0)
    return warning(
      'control groups',
      'None are mounted, so agents have no limits: mount the cgroup2 file system.',
    );
  const missing = CONTROLLERS.filter((name) => !delegated.includes(name) && !legacy.includes(name));
  const versions = [...(unified ? ['2'] : []), ...(legacy.length > 0 ? ['1'] : [])].join(' and ');
  const present = CONTROLLERS.filter((name) => !missing.includes(name));
  const found = `version ${versions}, with ${present.length === 0 ? 'no controller' : present.join(', ')}`;
  return missing.length === 0
    ? ok('control groups', found)
    : warning(
        'control groups',
        `${found}; agents have no limit of ${missing.join(', ')}: delegate these controllers to Berth (systemd: Delegate=yes).`,
      );
};

/** `limit` is the hard limit for open files; undefined: none. */
export const openFilesCheck = (
  name: string,
  whose: string,
  limit: number | undefined,
  remedy: string,
): DoctorCheck => {
  if (limit === undefined || limit >= WANTED_OPEN_FILES) return ok(name, String(limit ?? 'unlimited'));
  return warning(
    name,
    `The hard limit of ${whose} is ${limit}, lower than the ${WANTED_OPEN_FILES} that every process of an agent is to have: ${remedy}.`,
  );
};

/** `synchronized` as systemd or chrony says; undefined if neither runs. */
export const clockCheck = (synchronized: boolean | undefined): DoctorCheck => {
  if (synchronized === undefined)
    return warning(
      'clock',
      'Neither timedatectl nor chronyc says whether it is synchronized: see that it is.',
    );
  return synchronized
    ? ok('clock', 'synchronized')
    : warning('clock', 'It is not synchronized: start systemd-timesyncd or chrony.');
};

const bytesOf = (text: string, name: string): number | undefined => {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
};

const sizeOf = (bytes: number): string =>
  bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
