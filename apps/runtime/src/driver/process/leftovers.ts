import { readFile } from 'node:fs/promises';
import { runTool, ToolFailure } from '../../run-tool.js';
import { findSharedFolders } from './shared-folders.js';

/** System V IPC, by the option of `ipcrm`. */
const IPC = [
  { file: 'shm', id: 'shmid', option: '-m' },
  { file: 'msg', id: 'msqid', option: '-q' },
  { file: 'sem', id: 'semid', option: '-s' },
] as const;

/**
 * Removes what a user who has no processes owns in the folders that all users share, and its System V IPC, so that the next
 * agent with its id finds nothing. A folder that has content of others goes to this process's user.
 */
export const removeLeftovers = async (uid: number): Promise<void> => {
  const folders = (await findSharedFolders()).map(({ path }) => path);
  const its = ['-xdev', '-uid', String(uid)];
  // Other users change these folders meanwhile, of which find complains.
  await tolerant('find', [...folders, ...its, '-delete']);
  const us = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  await tolerant('find', [...folders, ...its, '-execdir', 'chown', '-h', us, '{}', '+']);
  for (const { file, id, option } of IPC)
    for (const one of await ownedIpc(`/proc/sysvipc/${file}`, id, uid))
      await tolerant('ipcrm', [option, one]);
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
