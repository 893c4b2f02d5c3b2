import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runChild } from './run-child.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

const DESKTOPS = new URL('../libs/platform/host-requirements/src/desktop-programs.json', import.meta.url);

/** What the tests need: programs of which one suffices, and the Debian package of the first. */
const NEEDED = [
  { programs: ['runc'], name: 'runc' },
  { programs: ['busybox'], name: 'busybox-static' },
  { programs: ['ip'], name: 'iproute2' },
  { programs: ['curl'], name: 'curl' },
  { programs: ['python3'], name: 'python3' },
  { programs: ['pip3', 'pip'], name: 'python3-pip' },
  { programs: ['sqlite3'], name: 'sqlite3' },
  { programs: ['pg_ctlcluster'], name: 'postgresql' },
  {
    programs: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    name: 'chromium-headless-shell',
  },
  // The headless browser has no windows.
  ...JSON.parse(readFileSync(DESKTOPS, 'utf8')).programs,
  { programs: ['xclip'], name: 'xclip' },
  { programs: ['xprop'], name: 'x11-utils' },
  { programs: ['setxkbmap'], name: 'x11-xkb-utils' },
  { programs: ['identify'], name: 'imagemagick' },
];
const INSTALL = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '-q', '--no-install-recommends'];

function usualFolders() {
  return [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
}

/**
 * Installs missing programs that the tests need with apt-get if this process is root. What cannot be installed fails
 * the test that needs it; one line says what to install.
 *
 * @param {(text: string) => void} log
 * @param {readonly string[]} folders where to look for programs
 * @param {boolean} isRoot
 * @returns {Promise<void>}
 */
export async function ensurePrograms(log, folders = usualFolders(), isRoot = process.getuid?.() === 0) {
  const missing = missingPackages(folders);
  if (missing.length === 0) return;
  const aptGet = find('apt-get', folders);
  if (isRoot && aptGet) {
    log(`Installing what the tests need: apt-get install -y ${missing.join(' ')}`);
    await installWith(aptGet, missing);
  }
  const left = missingPackages(folders);
  if (left.length > 0) log(`Some tests will fail until you run: apt-get install -y ${left.join(' ')}`);
}

async function installWith(aptGet, names) {
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
  // `--no-remove` keeps another BusyBox that is already installed.
  const install = (some) => runChild(aptGet, [...INSTALL, '--no-remove', ...some], options);
  // A stale or partly unreachable index often still has the packages: only the result of the installation counts.
  await runChild(aptGet, ['update', '-q'], options);
  // One name that the distribution does not know keeps the others from being installed.
  if ((await install(names)) !== 0 && names.length > 1) for (const name of names) await install([name]);
}

function missingPackages(folders) {
  return NEEDED.filter(({ programs }) => !programs.some((program) => find(program, folders))).map(
    ({ name }) => name,
  );
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
