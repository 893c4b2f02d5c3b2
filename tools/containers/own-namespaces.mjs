import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

// What process 1 of a test run in namespaces of its own does first.

const STARTED_WITHIN_MS = 20_000;

/** Mounts an empty folder over each of these folders that the machine has. */
export function hideFolders(paths) {
  for (const path of paths) {
    if (!existsSync(path)) continue;
    run('mount', ['-t', 'tmpfs', 'berth', path]);
  }
}

/** Mounts the same hierarchies as the machine's, whose root is now the group of this process. */
export function mountCgroups() {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const all = mounts.filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  // One mount may hide another at the same path.
  const hierarchies = [...new Map(all.map((mount) => [mount[1], mount])).values()];
  const root = '/sys/fs/cgroup';
  if (hierarchies.some(([, path]) => path === root)) {
    run('mount', ['-t', 'cgroup2', 'cgroup2', root]);
    leaveRootGroup(root);
    return;
  }
  run('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', root]);
  for (const [, path, type, options] of hierarchies) {
    mkdirSync(path, { recursive: true });
    const own = options
      .split(',')
      .filter((option) => !['rw', 'ro', 'relatime', 'nosuid', 'nodev', 'noexec'].includes(option));
    // A named hierarchy has no controller.
    const wanted = own.some((option) => option.startsWith('name=')) ? ['none', ...own] : own;
    run('mount', ['-t', type, ...(type === 'cgroup' ? ['-o', wanted.join(',')] : []), type, path]);
  }
}

/** In version 2 a group with processes cannot give controllers to the groups below it. */
function leaveRootGroup(root) {
  mkdirSync(join(root, 'tests'));
  writeFileSync(join(root, 'tests', 'cgroup.procs'), String(process.pid));
}

/** Waits until a program that was just started accepts connections on its Unix socket. */
export async function untilAccepts(address, child, name) {
  const giveUpAt = Date.now() + STARTED_WITHIN_MS;
  while (!(await accepts(address))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) throw new Error(`${name} did not start.`);
    await delay(20);
  }
}

async function accepts(path) {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Runs a program to its end; throws an error with its message if it fails. */
export function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr ?? error?.message ?? ''}`);
}
