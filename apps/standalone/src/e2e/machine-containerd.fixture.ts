import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { writeNerdctlFull } from './nerdctl-full.fixture.js';

const SUBORDINATE = 'berth:200000:65536';
const SOCKET = '/run/containerd/containerd.sock';
/** What the runtime and containerd mount for each other. */
const SHARED = ['/var/lib/berth', '/var/lib/containerd'];

/**
 * Prepares the machine of `npm run test:compose` as an operator does: the nerdctl-full archive in /usr/local with its
 * containerd running, and the user of the subordinate ids. All of it ends with the namespaces of the run.
 */
export class MachineContainerd {
  private constructor(private readonly child: ChildProcess) {}

  static async start(folder: string): Promise<MachineContainerd> {
    const { BERTH_TEST_CONTAINERD_PATH: path, CNI_PATH: cni } = process.env;
    if (path === undefined || cni === undefined)
      throw new Error('Run these tests with `npm run test:compose`.');
    for (const of of ['/usr/local', '/var/lib']) layOver(of, join(folder, of.replaceAll('/', '-')));
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
    });
    return new MachineContainerd(child);
  }

  /** Loads an image of the tests, in place of a registry. */
  load(namespace: string, name: string): void {
    const archive = join(process.env['BERTH_TEST_IMAGES'] ?? '', `${name}.tar`);
    this.nerdctl(`--namespace=${namespace}`, 'load', '--quiet', `--input=${archive}`);
  }

  nerdctl(...args: readonly string[]): string {
    return execFileSync('/usr/local/bin/nerdctl', args, { encoding: 'utf8' });
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
  }
}

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
