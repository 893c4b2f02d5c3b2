import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Plain JavaScript for Node 18 and newer, built-in modules only: this runs before anything is installed.

// A control group counts the processor time of its processes and of all that they start, also of those that have ended.
// Agents of the process driver are counted only where both versions are mounted, as on the machine of the table: the driver
// moves them into groups of its own below the root of version 2, or of version 1 where that is all there is.

/** The first is there in version 1 of control groups, the second in version 2. */
const PARENTS = ['/sys/fs/cgroup/cpuacct', '/sys/fs/cgroup'];
const NAME = 'berth-tests-';

/**
 * Creates the group of this run and moves this process into it.
 *
 * @returns {string | undefined} its folder; undefined where this process may not create one
 */
export function enterRunGroup() {
  const parent = PARENTS.find((folder) => existsSync(join(folder, 'cgroup.procs')));
  if (parent === undefined) return undefined;
  try {
    for (const name of readdirSync(parent)) if (name.startsWith(NAME)) removeUnused(join(parent, name));
    return enterGroup(parent, `${NAME}${process.pid}`);
  } catch {
    return undefined;
  }
}

/** Creates a group in another one, and moves this process into it. */
export function enterGroup(parent, name) {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
  return folder;
}

/** The processor time, of user and system, that a group has used, in seconds. */
export function secondsOf(folder) {
  const nanoseconds = join(folder, 'cpuacct.usage');
  if (existsSync(nanoseconds)) return Number(readFileSync(nanoseconds, 'utf8')) / 1e9;
  return Number(/usage_usec (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))[1]) / 1e6;
}

/** The ids of the processes in a group and those within it. A group may vanish meanwhile. */
export function processesIn(folder) {
  try {
    const within = groupsIn(folder).flatMap(processesIn);
    return [...readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean), ...within];
  } catch {
    return [];
  }
}

/** A group with processes stays. */
function removeUnused(folder) {
  try {
    groupsIn(folder).forEach(removeUnused);
    rmdirSync(folder);
  } catch {
    return;
  }
}

function groupsIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
