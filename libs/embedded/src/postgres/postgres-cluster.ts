import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../supervision/child-environment.js';
import { identifyProcess } from '../supervision/process-identity.js';
import { becomesTrue } from '../supervision/poll.js';
import { runCommand } from '../supervision/run-command.js';
import type { RunAs } from '../supervision/die-with-parent.js';
import type { PostgresBinaries } from './postgres-binaries.js';

/** A folder `<dataDir>/postgres` and the cluster in its `data`. */
export interface Cluster {
  readonly folder: string;
  readonly data: string;
}

/** The database's only superuser. */
export const SUPERUSER = 'berth';

/** Backends detect by themselves that their server is gone. */
const BACKENDS_END_WITHIN_MS = 3_000;

/** Messages in English and times in UTC, independent of the machine's settings. */
export const POSTGRES_ENVIRONMENT = childEnvironment({ LC_ALL: 'C', TZ: 'UTC' });

/**
 * How a program that runs as another user refers to the folder in which it was started. That user cannot enter the
 * folders above it (the data folder is 0700), but a process can always enter its own working directory through this
 * link.
 */
const WORKING_FOLDER = '/proc/self/cwd';

/** The path to pass to PostgreSQL when it is started with its working directory in `folder`. */
export function folderArgument(folder: string, runAs: RunAs | undefined): string {
  return runAs && process.platform === 'linux' ? WORKING_FOLDER : folder;
}

/** Creates the cluster on first use: UTF-8, password login only, the same sort order on every machine. */
export async function ensureCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
  password: string,
): Promise<Cluster> {
  const folder = join(dataDir, 'postgres');
  const data = join(folder, 'data');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  giveTo(folder, runAs);
  if (!existsSync(data)) await initialise(folder, data, binaries, runAs, password);
  assertVersion(data, binaries);
  await assertOwner(data, runAs);
  return { folder, data };
}

async function initialise(
  folder: string,
  data: string,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
  password: string,
): Promise<void> {
  const passwordFile = join(folder, 'initial-password');
  const draft = join(folder, 'data.new');
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  giveTo(passwordFile, runAs);
  mkdirSync(draft, { mode: 0o700 });
  giveTo(draft, runAs);
  // initdb changes into the new folder, so that folder has to be its working directory from the beginning.
  const here = folderArgument(draft, runAs);
  try {
    const { code, output } = await runCommand(
      binaries.initdb,
      [
        `--pgdata=${here}`,
        `--pwfile=${here}/../initial-password`,
        `--username=${SUPERUSER}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
      ],
      { cwd: draft, env: POSTGRES_ENVIRONMENT, ...runAs },
    );
    if (code !== 0)
      throw new Error(`PostgreSQL's data folder could not be created: ${output.trim().slice(-2000)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  // Renamed only when complete: a first start that is killed midway begins from scratch.
  renameSync(draft, data);
}

/**
 * Removes a `postmaster.pid` that would block the next start for no reason: after a kill -9, the process id in it may
 * belong to another process, or to a zombie (some containers have no init that reaps). A cluster that really runs keeps
 * its file, and the start fails.
 */
export async function clearStalePidFile({ data }: Cluster): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (identifyProcess(pid)) {
    if (!isPostgresIn(pid, data)) rmSync(file, { force: true });
    return;
  }
  // If the process does not exist, PostgreSQL removes the file itself, after checking that no backend is left.
  const cleared = (): boolean => !isInTable(pid) || backends(data).length === 0;
  if (!(await becomesTrue(cleared, BACKENDS_END_WITHIN_MS)) || !isInTable(pid)) return;
  rmSync(file, { force: true });
}

/** Whether the process is in the process table, even as a zombie. */
function isInTable(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

function backends(data: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => identifyProcess(Number(pid)) !== undefined && isPostgresIn(Number(pid), data));
}

function isPostgresIn(pid: number, data: string): boolean {
  try {
    const [cwd, ours] = [statSync(`/proc/${pid}/cwd`), statSync(data)];
    return cwd.ino === ours.ino && cwd.dev === ours.dev;
  } catch {
    // Cannot be determined without /proc, so it counts as PostgreSQL.
    return true;
  }
}

function assertVersion(data: string, { version }: PostgresBinaries): void {
  const stored = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  const [own = ''] = version.split('.');
  if (stored === own) return;
  throw new Error(
    `The data folder contains tables of PostgreSQL ${stored}, but this Berth includes PostgreSQL ${own}. ` +
      'Migrate them with pg_dump and pg_restore, or set DATABASE_URL.',
  );
}

async function assertOwner(data: string, runAs: RunAs | undefined): Promise<void> {
  const { uid } = statSync(data);
  const wanted = runAs?.uid ?? process.getuid?.() ?? uid;
  if (uid === wanted) return;
  if (!runAs) {
    throw new Error(
      'The tables in the data folder belong to another user. Run Berth as the user who created them.',
    );
  }
  // The folder was created on a machine where that user had another id.
  await runCommand('chown', ['-R', `${runAs.uid}:${runAs.gid}`, data]);
}

function giveTo(path: string, runAs: RunAs | undefined): void {
  if (runAs) chownSync(path, runAs.uid, runAs.gid);
}
