import { execFileSync } from 'node:child_process';
import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Where the copies of a checkout are, one folder for each run, named by its process. Git ignores it. */
const COPIES = join('.berth', 'mutate');

/**
 * Makes a copy of the checkout as it is, uncommitted changes and built files included, and returns its folder. Installed
 * packages are hard links. `removeCopies` removes it.
 */
export function makeCopy(root, name) {
  const folder = join(root, COPIES, String(process.pid), name);
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const sources = execFileSync('git', listed, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
  for (const path of sources) copyFile(join(root, path), join(folder, path));
  for (const path of builtFoldersOf(root)) {
    cpSync(join(root, path), join(folder, path), { recursive: true, preserveTimestamps: true });
  }
  for (const path of ['', ...packagesOf(root)].map((one) => join(one, 'node_modules'))) {
    if (existsSync(join(root, path))) linkTree(join(root, path), join(folder, path));
  }
  return folder;
}

/** Removes the copies of this process, and those of processes that were killed. */
export function removeCopies(root) {
  const folder = join(root, COPIES);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (Number(name) !== process.pid && existsSync(join('/proc', name))) continue;
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** `tsc -b` compares times: a copy that is newer than what was built from it would be built again. */
function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}

function builtFoldersOf(root) {
  return ['', ...packagesOf(root)]
    .map((one) => join(one, 'dist'))
    .filter((path) => existsSync(join(root, path)));
}

function packagesOf(root) {
  return ['apps', 'libs', join('libs', 'platform')].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(folder, name))
      .filter((path) => existsSync(join(root, path, 'package.json'))),
  );
}

/** Caches are left out: their files are changed in place, which would change the original. */
function linkTree(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && /^\.(cache|vite|vitest)/.test(entry.name)) continue;
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
}
