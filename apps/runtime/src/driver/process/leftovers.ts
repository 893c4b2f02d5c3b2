import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool, ToolFailure } from '../../run-tool.js';
import { forgetKeysProgram } from './forget-keys-program.plan.js';
import { findSharedFolders } from './shared-folders.js';

/** System V IPC, by the option of `ipcrm`. */
const IPC = [
  { file: 'shm', id: 'shmid', option: '-m' },
  { file: 'msg', id: 'msqid', option: '-q' },
  { file: 'sem', id: 'semid', option: '-s' },
] as const;

/**
 * Removes what a user who has no processes owns in the folders that all users share, so that the next agent with its id
 * finds nothing. A folder that has content of others goes to this process's user. Reads these folders wholly.
 */
export const removeSharedFiles = async (uid: number): Promise<void> => {
  const folders = (await findSharedFolders()).map(({ path }) => path);
  const us = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const keepForOthers = ['-execdir', 'chown', '-h', us, '{}', ';'];
  // Other users change these folders meanwhile, of which find complains.
  await tolerant('find', [
    ...folders,
    '-xdev',
    '-uid',
    String(uid),
    '(',
    '-delete',
    '-o',
    ...keepForOthers,
    ')',
  ]);
};

/** Removes the System V IPC of a user who has no processes, and its keys. */
export const removeFromKernel = async (uid: number): Promise<void> => {
  for (const { file, id, option } of IPC)
    for (const one of await ownedIpc(`/proc/sysvipc/${file}`, id, uid))
      await tolerant('ipcrm', [option, one]);
  await forgetKeys(uid);
};

/** Only the user itself can do it. The program is opened before, because the user reaches no folder that it could be in. */
const forgetKeys = async (uid: number): Promise<void> => {
  if (!['x64', 'arm64'].includes(process.arch)) return;
  const folder = await mkdtemp(join(tmpdir(), 'berth-keys-'));
  try {
    const program = join(folder, 'forget-keys');
    await writeFile(program, forgetKeysProgram(process.arch), { mode: 0o755 });
    const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all'];
    await tolerant('sh', ['-c', 'exec 3< "$0"; exec setpriv "$@" /proc/self/fd/3', program, ...user]);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const tolerant = async (program: string, args: readonly string[]): Promise<void> => {
  await runTool(program, args).catch((error: unknown) => {
    if (!(error instanceof ToolFailure)) throw error;
  });
};

/** A kernel without System V IPC has no such file. */
const ownedIpc = async (file: string, id: string, uid: number): Promise<readonly string[]> => {
  const table = await readFile(file, 'utf8').catch(() => '');
  const [head = [], ...rows] = table.split('\n').map((line) => line.trim().split(/\s+/));
  const [idAt, ownerAt, creatorAt] = [id, 'uid', 'cuid'].map((name) => head.indexOf(name));
  return rows
    .filter((row) => [row[ownerAt ?? -1], row[creatorAt ?? -1]].includes(String(uid)))
    .flatMap((row) => row[idAt ?? -1] ?? []);
};
