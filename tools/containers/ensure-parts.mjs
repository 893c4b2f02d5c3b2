import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SetupError } from '../ensure-installed.mjs';
import { build, builtFolder, find, installPackages, isNewEnough, searchPath } from './parts.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

/** What the tests of the nerdctl driver need from containerd's projects; `least` is what Berth itself requires. */
const PARTS = [
  {
    name: 'containerd',
    least: [2, 0],
    module: 'github.com/containerd/containerd/v2',
    packages: ['cmd/containerd', 'cmd/containerd-shim-runc-v2', 'cmd/ctr'],
    programs: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
    tags: 'no_btrfs no_devmapper no_zfs',
  },
  {
    name: 'runc',
    least: [1, 2],
    module: 'github.com/opencontainers/runc',
    packages: ['.'],
    programs: ['runc'],
    tags: 'seccomp',
  },
  {
    name: 'nerdctl',
    least: [2, 1],
    module: 'github.com/containerd/nerdctl/v2',
    packages: ['cmd/nerdctl'],
    programs: ['nerdctl'],
    tags: '',
    // Built outside its repository, nerdctl does not know its version.
    versionVariable: 'github.com/containerd/nerdctl/v2/pkg/version.Version',
  },
  {
    name: 'buildkit',
    least: [0, 18],
    module: 'github.com/moby/buildkit',
    packages: ['cmd/buildkitd', 'cmd/buildctl'],
    programs: ['buildkitd', 'buildctl'],
    tags: '',
    versionVariable: 'github.com/moby/buildkit/version.Version',
    // It runs in the images of builds, which need not have a C library.
    env: { CGO_ENABLED: '0' },
  },
];

/** Programs of the system that the tests use, with their Debian packages. */
const SYSTEM = new Map([
  ['nft', 'nftables'],
  ['ip', 'iproute2'],
  ['mkfs.ext4', 'e2fsprogs'],
  ['losetup', 'mount'],
  ['busybox', 'busybox-static'],
  ['mmdebstrap', 'mmdebstrap'],
]);
const TO_BUILD_RUNC = ['libseccomp-dev', 'pkg-config', 'gcc', 'libc6-dev'];
const CNI_FOLDERS = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

/**
 * Finds containerd, runc, nerdctl and BuildKit on the PATH, and builds those that are missing or too old from the Go modules next
 * to this file, once per version. Installs the packages of the system with apt-get if this process is root. Throws
 * `SetupError` with one line for each thing that is missing.
 *
 * @param {(text: string) => void} log
 * @returns {Promise<{path: string, cniPath: string}>} the PATH on which everything is found, and the CNI plugins
 */
export async function ensureParts(log) {
  const toBuild = PARTS.filter((part) => !isNewEnough(part));
  await installMissing(log, toBuild);
  const problems = [...SYSTEM]
    .filter(([program]) => !find(program))
    .map(([program, name]) => `${program} is missing: apt-get install ${name}`);
  const cniPath = process.env.CNI_PATH ?? CNI_FOLDERS.find((folder) => existsSync(join(folder, 'bridge')));
  if (!cniPath) problems.push('The CNI plugins are missing: apt-get install containernetworking-plugins');
  if (toBuild.length > 0 && !find('go'))
    problems.push(
      `${toBuild.map(({ name, least }) => `${name} ${least.join('.')}`).join(', ')} or newer is missing: unpack ` +
        'the nerdctl-full archive into /usr/local, or install Go to build them',
    );
  if (problems.length > 0) throw new SetupError(problems.join('\n'));
  const folders = [];
  for (const part of toBuild) folders.push(await build(part, log));
  return { path: [...folders, ...searchPath()].join(delimiter), cniPath };
}

async function installMissing(log, toBuild) {
  const missing = [...SYSTEM].filter(([program]) => !find(program)).map(([, name]) => name);
  if (!CNI_FOLDERS.some((folder) => existsSync(folder))) missing.push('containernetworking-plugins');
  const buildsRunc = toBuild.some((part) => part.name === 'runc' && !existsSync(builtFolder(part)));
  if (buildsRunc && spawnSync('pkg-config', ['--exists', 'libseccomp']).status !== 0)
    missing.push(...TO_BUILD_RUNC);
  await installPackages(missing, log);
}
