import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { createGroups, inNamespaces, removeGroups } from './new-namespaces.mjs';
import { mountCgroups, run } from './own-namespaces.mjs';

// A machine with a systemd of its own for tests: the files of this one, on which it writes to a layer of its own, and
// namespaces for mounts, processes and control groups. It shares the network of the test, and ends with this process.
// Arguments: an empty folder, and `from=to` for what it is to have at another place.
// Prints the id of its process 1 when it accepts commands; `nsenter` runs them.
const [folder, ...given] = process.argv.slice(2);
const INSIDE = '--inside';
/** What containers are stored on; an overlay cannot be the upper layer of another one. */
const OWN_FOLDERS = ['/var/lib/containerd', '/var/lib/docker', '/var/lib/berth'];
const TARGET = 'berth-machine.target';
const STARTED_WITHIN_MS = 60_000;

if (given[0] === INSIDE) prepareRoot(join(folder, 'root'), given.slice(1));
else await startMachine();

async function startMachine() {
  for (const name of ['root', 'upper', 'work', 'data']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'console'), '');
  const groups = createGroups(`machine-${process.pid}`);
  const prepare = [process.execPath, fileURLToPath(import.meta.url), folder, INSIDE, ...given];
  // Not chroot alone: a process whose root is not that of its mount namespace cannot make user namespaces.
  const enter = 'root=$1; shift; "$@" && cd "$root" && pivot_root . . && umount --lazy . &&';
  const init = `/lib/systemd/systemd --system --unit=${TARGET} --log-target=console`;
  const systemd = `${enter} exec env -i container=berth PATH="$PATH" chroot . ${init}`;
  const command = ['sh', '-c', systemd, 'sh', join(folder, 'root'), ...prepare];
  const [program, ...args] = inNamespaces(groups, command, { network: false });
  const machine = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => machine.kill('SIGKILL');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop);
  // A test that dies takes the machine with it.
  process.stdin.on('end', stop).resume();
  const ended = once(machine, 'exit');
  const pid = await Promise.race([untilStarted(machine), ended]);
  if (typeof pid === 'number') console.log(pid);
  else console.error(readFileSync(join(folder, 'console'), 'utf8'));
  await ended;
  removeGroups(groups);
  process.exit(0);
}

/** The id of its process 1, which is a child of `unshare`. */
async function untilStarted(machine) {
  const giveUpAt = Date.now() + STARTED_WITHIN_MS;
  while (Date.now() < giveUpAt) {
    const [pid] = readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, 'utf8').trim().split(' ');
    const inside = ['--target', pid, '--mount', '--pid', '--root', 'systemctl', 'is-active', TARGET];
    if (pid !== '' && spawnSync('nsenter', inside, { encoding: 'utf8' }).stdout?.trim() === 'active')
      return Number(pid);
    await delay(50);
  }
  machine.kill('SIGKILL');
  return undefined;
}

function prepareRoot(root, binds) {
  const at = (path) => join(root, path);
  const mount = (...args) => run('mount', args);
  const [upper, work] = ['upper', 'work'].map((name) => join(folder, name));
  mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, root);
  mountCgroups();
  mount('-t', 'proc', 'proc', at('/proc'));
  // Read-only, as in every container: systemd then leaves the devices to the machine around it.
  mount('-t', 'sysfs', '-o', 'ro', 'sysfs', at('/sys'));
  mount('--rbind', '/sys/fs/cgroup', at('/sys/fs/cgroup'));
  mount('--rbind', '/dev', at('/dev'));
  mount('--bind', join(folder, 'console'), at('/dev/console'));
  for (const path of ['/run', '/tmp']) mount('-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', at(path));
  for (const path of OWN_FOLDERS) bind(join(folder, 'data', basename(path)), path);
  for (const [from, to] of binds.map((one) => one.split('='))) bind(from, to);
  const units = at('/etc/systemd/system');
  writeFileSync(
    join(units, TARGET),
    '[Unit]\nRequires=systemd-journald.service\nAfter=systemd-journald.service\n',
  );
  writeFileSync(at('/etc/machine-id'), '');

  function bind(from, to) {
    mkdirSync(from, { recursive: true });
    mkdirSync(at(to), { recursive: true });
    mount('--bind', from, at(to));
  }
}
