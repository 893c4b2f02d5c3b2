import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BUNDLED } from './bundle.mjs';
import { runChild } from './run-child.mjs';
import { withLock } from './setup-lock.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only: this runs before anything is installed.

/** The repository's root folder. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const MODULES = join(ROOT, 'node_modules');
const MARK = join(MODULES, '.berth-installed');
const LOCK = join(ROOT, '.berth', 'setup.lock');
// The minimum that the libraries need; the npm package "node" installs a newer version.
const NEEDED = [22, 15];

/** The Node that Berth runs on: the one from the npm package `node`. */
export const PACKAGED_NODE = join(MODULES, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** The arguments with which Node runs the bundled program of an app. Call `ensureReady` first: it makes the bundles. */
export function programArguments(app) {
  return [BUNDLED, join(ROOT, 'apps', app, 'dist', 'main.bundle.js')];
}

export { BUNDLED };

/** A failure that is reported by its message alone, without a stack trace. */
export class SetupError extends Error {}

/** This machine lacks what a run needs, which is no failure of what it would have tested. */
export class UnsuitableMachineError extends SetupError {}

/** The exit code for an `UnsuitableMachineError`; that of the services on an unsuitable host. */
export const EXIT_UNSUITABLE_MACHINE = 69;

/**
 * Installs what is missing, builds what is out of date, and returns the path of the Node to run Berth with.
 * Fast if there is nothing to do; several processes may call it at the same time.
 *
 * @returns {Promise<string>}
 */
export async function ensureReady() {
  const waiting = () => log('Waiting for another process that is setting up this checkout ...');
  return withLock(
    LOCK,
    async () => {
      await install();
      const node = usableNode();
      await build(node);
      return node;
    },
    waiting,
  );
}

/**
 * The environment for child processes: `node` on their PATH is the Node that Berth runs on, and its compile cache
 * persists between starts.
 */
export function environmentWith(node) {
  return {
    NODE_COMPILE_CACHE: join(ROOT, '.berth', 'compile-cache'),
    ...process.env,
    PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter),
  };
}

/** Runs `main` and turns a SetupError into its message and exit code 1, or `EXIT_UNSUITABLE_MACHINE`. */
export async function runTool(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = error instanceof UnsuitableMachineError ? EXIT_UNSUITABLE_MACHINE : 1;
  }
}

export function log(text) {
  console.log(text);
}

async function install() {
  if (isInstalled()) return;
  log('Installing dependencies (once, about a minute) ...');
  const since = Date.now();
  const heartbeat = setInterval(() => log(`  still installing, ${seconds(since)} s`), 15_000);
  try {
    await installDependencies();
  } finally {
    clearInterval(heartbeat);
  }
  writeFileSync(MARK, lockHash());
  log(`Dependencies installed in ${seconds(since)} s.`);
}

async function installDependencies() {
  const options = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await runNpm(['ci', ...options])) === 0) return;
  // npm rejects a lock file that lists the binaries of fewer platforms than the registry offers. A plain install keeps
  // the locked versions and changes neither file.
  log('"npm ci" failed; installing the locked versions with "npm install" instead ...');
  const code = await runNpm(['install', '--no-save', ...options]);
  if (code !== 0) throw new SetupError(`"npm install" failed (exit code ${code}); its message is above.`);
}

function isInstalled() {
  const hash = lockHash();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === hash) return true;
  if (!matchesLockFile()) return false;
  writeFileSync(MARK, hash);
  return true;
}

function lockHash() {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  return hash.update(`${process.platform} ${process.arch}`).digest('hex');
}

/** Whether a manual installation matches the lock file; npm records at its end what it installed. */
function matchesLockFile() {
  const wanted = readPackages(join(ROOT, 'package-lock.json'));
  const present = readPackages(join(MODULES, '.package-lock.json'));
  if (!wanted || !present) return false;
  return Object.entries(wanted)
    .filter(([path]) => path.includes('node_modules/'))
    .every(([path, { version, integrity, optional }]) => {
      const found = present[path];
      return found ? found.version === version && found.integrity === integrity : optional === true;
    });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function runNpm(args) {
  // In an npm script npm provides its own path; running that file avoids the shell that npm.cmd needs.
  const cli = process.env.npm_execpath;
  const options = { cwd: ROOT };
  if (cli?.endsWith('.js')) return runChild(process.execPath, [cli, ...args], options);
  return runChild('npm', args, { ...options, shell: process.platform === 'win32' });
}

function usableNode() {
  for (const node of [PACKAGED_NODE, process.execPath]) {
    const { stdout, status } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (status === 0 && isEnough(stdout)) return node;
  }
  throw new SetupError(
    `Berth needs Node ${NEEDED.join('.')} or newer; this is ${process.version}, and the one from the npm package ` +
      '"node" does not run here (are install scripts switched off?). Install a newer Node and start again.',
  );
}

function isEnough(version) {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

async function build(node) {
  const first = !existsSync(join(ROOT, 'apps', 'standalone', 'dist', '.tsbuildinfo'));
  if (first) log('Building ...');
  await buildStep(node, [join(MODULES, 'typescript', 'bin', 'tsc'), '-b', '--pretty', 'false']);
  await buildStep(node, [join(ROOT, 'tools', 'bundle.mjs')]);
}

async function buildStep(node, args) {
  let output = '';
  const code = await runChild(node, args, {
    cwd: ROOT,
    env: environmentWith(node),
    stdio: ['ignore', 'pipe', 'pipe'],
    onChild: (child) => {
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    },
  });
  if (code !== 0) throw new SetupError(`The build failed:\n${output.trim()}`);
}

function seconds(since) {
  return Math.round((Date.now() - since) / 1000);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runTool(async () => {
    await ensureReady();
    return 0;
  });
}
