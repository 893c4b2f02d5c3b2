import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ROOT, SetupError } from './ensure-installed.mjs';

/** The Python client library. */
export const PYTHON_CLIENT = join(ROOT, 'libs', 'client-python');
const OLDEST_MINOR = 10;
const NEWEST_MINOR = 20;
const INSTALL = 'Install Python 3.10 or newer with pip: apt-get install -y python3 python3-pip';
const ASK = 'import sys, pip; print(sys.version_info.major, sys.version_info.minor, sys.executable)';

/**
 * @typedef {object} Python
 * @property {string} program
 * @property {number} minor 12 of Python 3.12
 */

/** The Python to use if one suffices: `python3`, if it has pip and the client supports it. */
export function usualPython(env = process.env) {
  for (const python of usable(env)) return python;
  throw new SetupError(INSTALL);
}

/** The oldest and the newest Python of this machine that can be used; one if it has one. */
export function oldestAndNewestPython(env = process.env) {
  const pythons = [...usable(env)].sort((a, b) => a.minor - b.minor);
  if (pythons.length === 0) throw new SetupError(INSTALL);
  return [...new Set([pythons[0], pythons.at(-1)])];
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Generator<Python>} those that have pip and that the client supports
 */
function* usable(env) {
  for (const candidate of candidates(env)) {
    const { stdout } = spawnSync(candidate, ['-c', ASK], { env, encoding: 'utf8' });
    const [, minor, program] = /^3 (\d+) (.+)$/m.exec(stdout ?? '') ?? [];
    if (program !== undefined && Number(minor) >= OLDEST_MINOR) yield { program, minor: Number(minor) };
  }
}

/** Programs of the PATH, and those that pyenv has installed, which are on no PATH. */
function candidates(env) {
  const minors = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, at) => OLDEST_MINOR + at);
  const versions = join(env.HOME ?? homedir(), '.pyenv', 'versions');
  const installed = existsSync(versions) ? readdirSync(versions) : [];
  return [
    'python3',
    ...minors.map((minor) => `python3.${minor}`),
    ...installed.map((name) => join(versions, name, 'bin', 'python3')),
  ];
}

/**
 * Installs what a file of the library's `requirements` lists, once for each version of Python, and returns the folder for
 * `PYTHONPATH`. Without a virtual environment, which Debian's Python cannot make.
 *
 * @param {Python} python
 * @param {'test' | 'tools'} name
 */
export async function installRequirements({ program, minor }, name) {
  const requirements = join(PYTHON_CLIENT, 'requirements');
  const hash = createHash('sha256').update(`3.${minor}`);
  for (const file of readdirSync(requirements).sort()) hash.update(readFileSync(join(requirements, file)));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'berth', 'python');
  const folder = join(cache, `${name}-3.${minor}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const part = mkdtempSync(`${folder}.`);
  try {
    const options = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore', '--target', part];
    const file = join(requirements, `${name}.txt`);
    const { code, output } = await runPython(program, ['-m', 'pip', 'install', ...options, '-r', file]);
    if (code !== 0) throw new SetupError(`pip could not install ${file}: ${output.trim().slice(-2_000)}`);
    if (!existsSync(folder)) renameSync(part, folder);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return folder;
}

/** Runs Python in the folder of the library. Resolves with its exit code and what it printed. */
export function runPython(program, args, { env = {}, paths = [], print = () => undefined } = {}) {
  const child = spawn(program, args, {
    cwd: PYTHON_CLIENT,
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      ...(paths.length > 0 ? { PYTHONPATH: paths.join(delimiter) } : {}),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      print(chunk);
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
