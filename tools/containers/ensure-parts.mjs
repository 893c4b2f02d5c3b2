import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { SetupError } from '../ensure-installed.mjs';
import { runChild } from '../run-child.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

const MODULES = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);

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
 * Finds containerd, runc and nerdctl on the PATH, and builds those that are missing or too old from the Go modules next
 * to this file, once per version. Installs the packages of the system with apt-get if this process is root. Throws
 * `SetupError` with one line for each thing that is missing.
 *
 * @param {(text: string) => void} log
 * @returns {Promise<{path: string, cniPath: string}>} the PATH on which everything is found, and the CNI plugins
 */
export async function ensureParts(log) {
  const toBuild = PARTS.filter((part) => !isNewEnough(part));
  await installPackages(log, toBuild);
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

/** The folder for what is built once and used by every checkout. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'berth', 'containers');
}

async function installPackages(log, toBuild) {
  const missing = [...SYSTEM].filter(([program]) => !find(program)).map(([, name]) => name);
  if (!CNI_FOLDERS.some((folder) => existsSync(folder))) missing.push('containernetworking-plugins');
  const buildsRunc = toBuild.some(({ name }) => name === 'runc') && !existsSync(builtFolder(partOf('runc')));
  if (buildsRunc && spawnSync('pkg-config', ['--exists', 'libseccomp']).status !== 0)
    missing.push(...TO_BUILD_RUNC);
  const aptGet = find('apt-get');
  if (missing.length === 0 || process.getuid?.() !== 0 || !aptGet) return;
  log(`Installing what the container tests use: apt-get install -y ${missing.join(' ')}`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  // A stale or partly unreachable index often still has the packages: only the result of the installation counts.
  await runChild(aptGet, ['update', '-q'], options);
  const install = ['install', '-y', '-q', '--no-install-recommends', '--no-remove'];
  await runChild(aptGet, ['-o', 'DPkg::Lock::Timeout=120', ...install, ...missing], options);
}

function partOf(name) {
  return PARTS.find((part) => part.name === name);
}

function isNewEnough({ programs, least }) {
  const [program] = programs;
  if (programs.some((name) => !find(name))) return false;
  const { stdout } = spawnSync(find(program), ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(stdout ?? '') ?? [];
  return Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
}

/** The folder of a part that was built from exactly these module files. */
function builtFolder({ name }) {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULES, name, file)));
  return join(cacheFolder(), `${name}-${process.arch}-${hash.digest('hex').slice(0, 12)}`);
}

async function build(part, log) {
  const target = builtFolder(part);
  if (existsSync(target)) return target;
  const { name, module, packages, tags, versionVariable } = part;
  const version = versionOf(part);
  log(`Building ${name} ${version} (once, one to two minutes) ...`);
  const work = `${target}.${process.pid}`;
  const bin = join(work, 'bin');
  try {
    // Go writes to go.mod while it builds, so it gets a copy.
    cpSync(join(MODULES, name), work, { recursive: true });
    mkdirSync(bin);
    const linker = versionVariable ? ['-ldflags', `-X ${versionVariable}=${version}`] : [];
    const args = [
      'build',
      '-mod=mod',
      '-trimpath',
      '-buildvcs=false',
      '-tags',
      tags,
      ...linker,
      '-o',
      `${bin}/`,
    ];
    const code = await runChild('go', [...args, ...packages.map((path) => join(module, path))], {
      cwd: work,
    });
    if (code !== 0) throw new SetupError(`${name} could not be built; the message of Go is above.`);
    renameSync(bin, target);
  } catch (error) {
    // Another run may have finished the same build first.
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return target;
}

function versionOf({ name, module }) {
  const lines = readFileSync(join(MODULES, name, 'go.mod'), 'utf8').split('\n');
  return lines.find((line) => line.startsWith(`require ${module} `))?.split(' ')[2] ?? '';
}

function searchPath() {
  return [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin', '/sbin'];
}

function find(program) {
  return searchPath()
    .filter((folder) => existsSync(folder) && readdirSync(folder).includes(program))
    .map((folder) => join(folder, program))[0];
}
