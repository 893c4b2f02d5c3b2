import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Namespaces and control groups for a test run that leaves nothing on the machine.

const ATTEMPTS = 50;
const PAUSE_MS = 50;

/** Makes a control group in each hierarchy; a test run in namespaces of its own sees it as the root. */
export function createGroups(name) {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const hierarchies = mounts.filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  // One mount may hide another at the same path.
  const groups = [...new Set(hierarchies.map(([, path]) => join(path, name)))];
  for (const group of groups) {
    mkdirSync(group);
    // A group of version 1 takes processes only after it has been given processors and memory nodes.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (!existsSync(join(group, file)) || readFileSync(join(group, file), 'utf8').trim() !== '') continue;
      const inherited = readFileSync(join(group, '..', file), 'utf8').trim();
      if (inherited !== '') writeFileSync(join(group, file), inherited);
    }
    if (existsSync(join(group, 'cgroup.clone_children')))
      writeFileSync(join(group, 'cgroup.clone_children'), '1');
  }
  return groups;
}

/** Removes the groups and all groups below them. */
export function removeGroups(groups) {
  for (const group of groups) removeGroup(group);
}

function removeGroup(group) {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(group, entry.name));
  // The kernel may still be ending the processes of the namespaces.
  for (let attempt = 1; ; attempt++) {
    try {
      return rmdirSync(group);
    } catch (error) {
      if (attempt === ATTEMPTS)
        return console.log(`The control group ${group} could not be removed: ${error.message}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

/**
 * The command that runs another one as process 1 of namespaces of its own, with the groups as its roots; `network: false`
 * leaves it in the present network.
 */
export function inNamespaces(groups, command, { network = true } = {}) {
  const namespaces = [
    '--mount',
    '--propagation',
    'private',
    ...(network ? ['--net'] : []),
    '--pid',
    '--cgroup',
    '--fork',
    '--mount-proc',
  ];
  const enter = groups.map((group) => `echo $$ > '${group}/cgroup.procs';`).join(' ');
  return ['sh', '-c', `${enter} exec "$@"`, 'sh', 'unshare', ...namespaces, '--kill-child', '--', ...command];
}
