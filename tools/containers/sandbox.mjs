import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, appendFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hideFolders, mountCgroups, run, untilAccepts } from './own-namespaces.mjs';

// Process 1 of the container tests: it has namespaces of its own for mounts, processes, network and control groups, so
// that nothing that the tests do reaches the machine. Arguments: the temporary folder and the command of the tests.
const [folder, ...command] = process.argv.slice(2);

/** The user whose subordinate ids the containers get, as the operator of a real host sets it up. */
const SUBORDINATE = 'berth:200000:65536';

// Programs of the tests write below these folders of the machine.
hideFolders(['/run/containerd', '/run/netns', '/run/runc', '/run/nerdctl', '/etc/cni', '/var/lib/nerdctl']);
addSubordinateIds();
mountCgroups();
run('ip', ['link', 'set', 'lo', 'up']);
const before = inventory();
const address = join(folder, 'containerd.sock');
const containerd = await startContainerd();
const tests = spawn(command[0], command.slice(1), {
  stdio: 'inherit',
  env: { ...process.env, CONTAINERD_ADDRESS: address },
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => tests.kill(signal));
const [code] = await once(tests, 'exit');
containerd.kill('SIGTERM');
await once(containerd, 'exit');
writeFileSync(join(folder, 'leftovers.json'), JSON.stringify(await leftovers()));
process.exit(code ?? 1);

function addSubordinateIds() {
  const [user] = SUBORDINATE.split(':');
  const entries = {
    '/etc/passwd': `${user}:x:64999:64999::/nonexistent:/usr/sbin/nologin`,
    '/etc/group': `${user}:x:64999:`,
    '/etc/subuid': SUBORDINATE,
    '/etc/subgid': SUBORDINATE,
  };
  for (const [path, entry] of Object.entries(entries)) {
    const copy = join(folder, basename(path));
    copyFileSync(path, copy);
    const others = readFileSync(copy, 'utf8')
      .split('\n')
      .filter((line) => !line.startsWith(`${user}:`));
    writeFileSync(copy, others.join('\n'));
    appendFileSync(copy, `${entry}\n`);
    run('mount', ['--bind', copy, path]);
  }
}

async function startContainerd() {
  const state = join(folder, 'containerd');
  mkdirSync(state);
  const config = join(state, 'config.toml');
  const lines = [
    'version = 3',
    `root = '${state}/root'`,
    `state = '${state}/state'`,
    "disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime']",
    `[grpc]\naddress = '${address}'`,
    `[ttrpc]\naddress = '${address}.ttrpc'`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const log = openSync(join(folder, 'containerd.log'), 'w');
  const child = spawn('containerd', ['--config', config, '--log-level', 'error'], {
    stdio: ['ignore', 'ignore', log],
  });
  await untilAccepts(address, child, 'containerd');
  return child;
}

/** What the tests may have left behind, as lists of names by kind. */
function inventory() {
  const text = (program, args) => spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '';
  const lines = (output) => output.split('\n').filter(Boolean);
  return {
    mounts: lines(readFileSync('/proc/self/mountinfo', 'utf8')).map((line) => line.split(' ')[4]),
    'loop devices': lines(text('losetup', ['-n', '-l', '-O', 'BACK-FILE'])).filter((file) =>
      file.includes(folder),
    ),
    'network interfaces': lines(text('ip', ['-o', 'link'])).map((line) => line.split(': ')[1]),
    'firewall rules': lines(text('nft', ['list', 'ruleset'])),
    processes: lines(text('ps', ['-e', '-o', 'pid=,stat=,args=']))
      .filter((line) => !/^\s*1 |^\s*\d+ Z| ps -e /.test(line))
      .map((line) => line.trim()),
    'control groups': lines(
      text('find', ['/sys/fs/cgroup', '-mindepth', '2', '-type', 'd', '-name', 'berth-*']),
    ),
  };
}

/** What is there now and was not before. Waits a moment for shims and the kernel to finish. */
async function leftovers() {
  const giveUpAt = Date.now() + 3_000;
  for (;;) {
    const now = inventory();
    const more = Object.keys(now).flatMap((kind) =>
      now[kind].filter((name) => !before[kind].includes(name)).map((name) => `${kind}: ${name}`),
    );
    if (more.length === 0 || Date.now() > giveUpAt) return more;
    await delay(100);
  }
}
