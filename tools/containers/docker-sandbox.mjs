import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildStandIns } from './stand-ins.mjs';
import { hideFolders, mountCgroups, run, untilAccepts } from './own-namespaces.mjs';

// Process 1 of the compose tests: starts a Docker engine in namespaces of its own for mounts, processes, network and
// control groups, so that nothing that it does reaches the machine. Arguments: the temporary folder and the command of
// the tests. Descriptor 3 is the machine's network namespace.
const [folder, ...command] = process.argv.slice(2);
const MACHINE_NETWORK = 3;
/** The resolver that slirp4netns offers. */
const RESOLVER = '10.0.2.3';

hideFolders(['/run']);
keepEtc();
mountCgroups();
run('ip', ['link', 'set', 'lo', 'up']);
await connectToMachine();
const engine = await keepEngine();
await buildStandIns(join(folder, 'stand-ins'), console.log);
const tests = spawn(command[0], command.slice(1), { stdio: ['inherit', 'inherit', 'inherit'] });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => tests.kill(signal));
const [code] = await once(tests, 'exit');
await engine.stop();
process.exit(code ?? 1);

/** What the engine writes to /etc is gone with the run. */
function keepEtc() {
  const [upper, work] = ['etc', 'etc-work'].map((name) => join(folder, name));
  mkdirSync(upper);
  mkdirSync(work);
  run('mount', ['-t', 'overlay', '-o', `lowerdir=/etc,upperdir=${upper},workdir=${work}`, 'overlay', '/etc']);
  writeFileSync('/etc/resolv.conf', `nameserver ${RESOLVER}\n`);
}

/** Connects this network namespace to what the machine reaches, without a rule or an interface on the machine. */
async function connectToMachine() {
  const args = ['--configure', '--mtu=65520', '--disable-host-loopback', '--ready-fd=4', '1', 'tap0'];
  const child = spawn('nsenter', ['--net=/proc/self/fd/3', 'slirp4netns', ...args], {
    stdio: ['ignore', 'ignore', openSync(join(folder, 'slirp4netns.log'), 'w'), MACHINE_NETWORK, 'pipe'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('slirp4netns did not start.');
  });
  await Promise.race([once(child.stdio[4], 'data'), ended]);
  ended.catch(() => undefined);
}

/** Starts the engine, and again whenever a test ends it, as systemd does. */
async function keepEngine() {
  let stopping = false;
  let child = await startEngine();
  const keep = async () => {
    await once(child, 'exit');
    if (stopping) return;
    child = await startEngine();
    await keep();
  };
  const kept = keep();
  const stop = async () => {
    stopping = true;
    child.kill('SIGTERM');
    await kept;
  };
  return { stop };
}

async function startEngine() {
  const log = openSync(join(folder, 'dockerd.log'), 'a');
  const child = spawn('dockerd', [`--data-root=${join(folder, 'docker')}`, '--log-level=warn'], {
    stdio: ['ignore', log, log],
  });
  await untilAccepts('/run/docker.sock', child, 'dockerd');
  return child;
}
