import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { writeNerdctlFull } from './nerdctl-full.fixture.js';

const SUBORDINATE = 'berth:200000:65536';
const STATE = '/run/containerd';
const SOCKET = `${STATE}/containerd.sock`;
const PID_OF_ENGINE = '/run/docker.pid';
/** What unpacking the archive and adding the user write to; /etc belongs to the run already. */
const WRITTEN = ['/usr/local', '/var/lib'];
/** What the runtime and containerd mount for each other. */
const SHARED = ['/var/lib/berth', '/var/lib/containerd', STATE];
const STARTED = { timeoutMs: 60_000, intervalMs: 200 };

/**
 * Prepares the machine of `npm run test:compose` as an operator prepares a server: the nerdctl-full archive in /usr/local,
 * its containerd also for Docker's engine, and the user of the subordinate ids.
 */
export class MachineContainerd {
  private constructor(
    private readonly child: ChildProcess,
    private readonly mounts: readonly string[],
  ) {}

  static async start(folder: string): Promise<MachineContainerd> {
    const { BERTH_TEST_CONTAINERD_PATH: path, CNI_PATH: cni } = process.env;
    if (path === undefined || cni === undefined)
      throw new Error('Run these tests with `npm run test:compose`.');
    for (const of of WRITTEN) layOver(of, join(folder, of.replaceAll('/', '-')));
    for (const of of SHARED) share(of, join(folder, of.replaceAll('/', '-')));
    writeNerdctlFull('/usr/local', path);
    cpSync(cni, '/usr/local/libexec/cni', { recursive: true });
    appendFileSync('/etc/passwd', 'berth:x:64999:64999::/nonexistent:/usr/sbin/nologin\n');
    appendFileSync('/etc/group', 'berth:x:64999:\n');
    for (const file of ['/etc/subuid', '/etc/subgid']) appendFileSync(file, `${SUBORDINATE}\n`);
    const child = spawn('/usr/local/bin/containerd', ['--log-level=error'], {
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await eventually(() => {
      if (!existsSync(SOCKET)) throw new Error('containerd did not start.');
    }, STARTED);
    await restartEngine();
    return new MachineContainerd(child, [...WRITTEN, ...SHARED]);
  }

  /** Loads an image of the tests, in place of a registry. */
  load(namespace: string, name: string): void {
    const archive = join(process.env['BERTH_TEST_IMAGES'] ?? '', `${name}.tar`);
    this.nerdctl(`--namespace=${namespace}`, 'load', '--quiet', `--input=${archive}`);
  }

  nerdctl(...args: readonly string[]): string {
    return execFileSync('/usr/local/bin/nerdctl', args, { encoding: 'utf8' });
  }

  /** Docker's engine uses its own containerd again. */
  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
    for (const folder of this.mounts.toReversed()) execFileSync('umount', ['--lazy', folder]);
    await restartEngine();
  }
}

/** The sandbox starts an engine that ended again. It uses the containerd at `SOCKET` if there is one when it starts. */
const restartEngine = async (): Promise<void> => {
  const pid = readFileSync(PID_OF_ENGINE, 'utf8');
  process.kill(Number(pid), 'SIGTERM');
  await eventually(() => {
    if (readFileSync(PID_OF_ENGINE, 'utf8') === pid) throw new Error('The engine has not ended.');
    execFileSync('docker', ['version'], { stdio: ['ignore', 'ignore', 'pipe'] });
  }, STARTED);
};

/** What is written to a folder from now on is gone with the run. */
const layOver = (folder: string, own: string): void => {
  const [upper, work] = [`${own}-upper`, `${own}-work`];
  for (const path of [upper, work]) mkdirSync(path);
  const options = `lowerdir=${folder},upperdir=${upper},workdir=${work}`;
  execFileSync('mount', ['-t', 'overlay', '-o', options, 'overlay', folder]);
};

/** Mounts in a folder reach every mount namespace that has it, as on a machine with systemd. */
const share = (folder: string, own: string): void => {
  for (const path of [folder, own]) mkdirSync(path, { recursive: true });
  execFileSync('mount', ['--bind', own, folder]);
  execFileSync('mount', ['--make-rshared', folder]);
};
