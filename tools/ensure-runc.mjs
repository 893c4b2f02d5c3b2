import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runChild } from './run-child.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

/** What the bench compares an execution with: the program, and Debian's package that has it. */
const PACKAGES = new Map([
  ['runc', 'runc'],
  ['busybox', 'busybox-static'],
]);
const INSTALL = ['install', '-y', '-q', '--no-install-recommends'];

function usualFolders() {
  return [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
}

/**
 * Installs runc and a static BusyBox with apt-get where they are missing and that can be done without asking. Where it
 * cannot, nothing happens here: the test that needs them fails and says which command to run.
 *
 * @param {(text: string) => void} say
 * @param {readonly string[]} folders where to look for programs
 * @param {boolean} isRoot
 * @returns {Promise<void>}
 */
export async function ensureRunc(say, folders = usualFolders(), isRoot = process.getuid?.() === 0) {
  const missing = [...PACKAGES].filter(([program]) => !find(program, folders)).map(([, name]) => name);
  const aptGet = find('apt-get', folders);
  if (missing.length === 0 || !isRoot || !aptGet) return;
  say(`Installing what the bench compares with: apt-get install -y ${missing.join(' ')}`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  // A stale or partly unreachable index still often has the packages: only the installation itself decides.
  await runChild(aptGet, ['update', '-q'], options);
  // Another BusyBox stays where there is one: the machine's own programs are not ours to exchange.
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
