import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './ensure-installed.mjs';

// Run by hand after adding a dependency through a registry mirror that has only some platforms' binaries. npm then
// omits the others from package-lock.json, and `npm ci` rejects such a file everywhere. This script adds the missing
// entries from the package names and the dependent package: version, system, processor. It cannot add `integrity`,
// which only the full registry knows.

const SYSTEMS = { windows: 'win32', win32: 'win32', darwin: 'darwin', linux: 'linux', freebsd: 'freebsd' };
const MORE_SYSTEMS = { android: 'android', openharmony: 'openharmony' };
const PROCESSORS = ['arm64', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'arm'];

/**
 * Adds the missing entries to the parsed lock file.
 *
 * @returns {string[]} The paths of the added entries.
 */
export function completeLock(lock) {
  const added = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = platformOf(name);
      const exact = version.replace(/^[\^~]/, '');
      if (!platform || isLocked(lock, path, name, exact)) continue;
      // Next to the dependent, which may be nested because another version of it is at the top level.
      const place = `${path.slice(0, path.lastIndexOf('node_modules/'))}node_modules/${name}`;
      lock.packages[place] = {
        version: exact,
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
        ...platform,
      };
      added.push(place);
    }
  }
  return added;
}

/** Whether the entry that the dependent resolves the name to has that version. */
function isLocked(lock, from, name, version) {
  for (let path = from; ; path = path.slice(0, path.lastIndexOf('node_modules/')).replace(/\/$/, '')) {
    const entry = lock.packages[path ? `${path}/node_modules/${name}` : `node_modules/${name}`];
    if (entry !== undefined) return entry.version === version;
    if (path === '') return false;
  }
}

function platformOf(name) {
  const words = name.split('/').at(-1).split('-');
  const os = words.map((word) => ({ ...SYSTEMS, ...MORE_SYSTEMS })[word]).find(Boolean);
  if (!os) return undefined;
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  const libc = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  return { os: [os], ...(cpu ? { cpu: [cpu] } : {}), ...(libc ? { libc: [libc] } : {}) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(ROOT, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = completeLock(lock);
  if (added.length > 0) {
    const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
    lock.packages = Object.fromEntries(sorted);
    writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  }
  console.log(`${added.length} platform packages added to package-lock.json`);
}
