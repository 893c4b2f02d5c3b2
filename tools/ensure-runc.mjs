import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runChild } from './run-child.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

/** Programs that tests and the bench need, and their Debian packages. */
const PACKAGES = new Map([
  ['runc', 'runc'],
  ['busybox', 'busybox-static'],
  ['ip', 'iproute2'],
]);
const INSTALL = ['install', '-y', '-q', '--no-install-recommends'];

function usualFolders() {
  return [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
}

/**
 * Installs runc, a static BusyBox and iproute2 with apt-get if they are missing and this process is root. Otherwise it does
 * nothing: the test that needs them fails and names the command to run.
 *
 * @param {(text: string) => void} log
 * @param {readonly string[]} folders where to look for programs
 * @param {boolean} isRoot
 * @returns {Promise<void>}
 */
export async function ensureRunc(log, folders = usualFolders(), isRoot = process.getuid?.() === 0) {
  const missing = [...PACKAGES].filter(([program]) => !find(program, folders)).map(([, name]) => name);
  const aptGet = find('apt-get', folders);
  if (missing.length === 0 || !isRoot || !aptGet) return;
  log(`Installing what the tests need: apt-get install -y ${missing.join(' ')}`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  // A stale or partly unreachable index often still has the packages: only the result of the installation counts.
  await runChild(aptGet, ['update', '-q'], options);
  // `--no-remove` keeps another BusyBox that is already installed.
  await runChild(aptGet, ['-o', 'DPkg::Lock::Timeout=120', ...INSTALL, '--no-remove', ...missing], options);
}

function find(program, folders) {
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
