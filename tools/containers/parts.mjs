import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { SetupError } from '../ensure-installed.mjs';
import { runChild } from '../run-child.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

const MODULES = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);

/** The folder for what is built once and used by every checkout. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'berth', 'containers');
}

/** Installs packages of the system with apt-get if this process is root; the caller finds out what is still missing. */
export async function installPackages(names, log) {
  const aptGet = find('apt-get');
  if (names.length === 0 || process.getuid?.() !== 0 || !aptGet) return;
  log(`Installing what the tests use: apt-get install -y ${names.join(' ')}`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  // A stale or partly unreachable index often still has the packages: only the result of the installation counts.
  await runChild(aptGet, ['update', '-q'], options);
  const install = ['install', '-y', '-q', '--no-install-recommends', '--no-remove'];
  await runChild(aptGet, ['-o', 'DPkg::Lock::Timeout=120', ...install, ...names], options);
}

/** Whether all programs of the part are on the PATH, the first one in the version `least` or newer. */
export function isNewEnough({ programs, least }) {
  const [program] = programs;
  if (programs.some((name) => !find(name))) return false;
  const { stdout } = spawnSync(find(program), ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(stdout ?? '') ?? [];
  return Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
}

/** The folder of a part that was built from exactly these module files. */
export function builtFolder({ name }) {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULES, name, file)));
  return join(cacheFolder(), `${name}-${process.arch}-${hash.digest('hex').slice(0, 12)}`);
}

/** Builds the part, unless an earlier run did, and returns the folder of its programs. */
export async function build(part, log) {
  const target = builtFolder(part);
  if (existsSync(target)) return target;
  const { name, module, packages, programs, tags, versionVariable, env } = part;
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
      packages.length === 1 ? join(bin, programs[0]) : `${bin}/`,
    ];
    const code = await runChild('go', [...args, ...packages.map((path) => join(module, path))], {
      cwd: work,
      env: { ...process.env, ...env },
    });
    if (code !== 0)
      throw new SetupError(
        `${name} ${version} could not be built, the message of Go is above: unpack the nerdctl-full archive into /usr/local`,
      );
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

/** The folders of the PATH, and those of the programs of administrators. */
export function searchPath() {
  return [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin', '/sbin'];
}

/** The path of a program; undefined if it is not installed. */
export function find(program) {
  return searchPath()
    .filter((folder) => existsSync(folder) && readdirSync(folder).includes(program))
    .map((folder) => join(folder, program))[0];
}
