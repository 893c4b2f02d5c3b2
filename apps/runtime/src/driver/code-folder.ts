import { runTool } from '../run-tool.js';
import type { RunAs } from './driver.js';

/** Where the new content of a code folder is until it is complete. */
export const unfinishedOf = (folder: string): string => `${folder}.next`;

/** Makes a task's user the owner of the folder and everything in it. Never follows a symbolic link. */
export const grantFolder = async (folder: string, { uid, gid }: RunAs): Promise<void> => {
  await runTool('chown', ['-R', '-h', '-P', `${uid}:${gid}`, folder]);
};

/**
 * Makes the folder readable for every user and writable for no agent: it belongs to the user of this process again, or is
 * read-only if tasks run as that user too (`owner` is null). Deletes devices, sockets and pipes, and files of other users,
 * which the task cannot have created, only hard-linked. Call it when no process of the task is left.
 */
export const reclaimFolder = async (folder: string, owner: RunAs | null): Promise<void> => {
  await runTool('find', [
    folder,
    '-depth',
    '!',
    '-type',
    'f',
    '!',
    '-type',
    'd',
    '!',
    '-type',
    'l',
    '-delete',
  ]);
  if (owner === null) {
    await runTool('chmod', ['-R', 'u=rX,go=rX,ug-s', folder]);
    return;
  }
  await runTool('find', [folder, '-depth', '!', '-uid', String(owner.uid), '-delete']);
  await runTool('chown', ['-R', '-h', '-P', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`, folder]);
  await runTool('chmod', ['-R', 'u=rwX,go=rX,ug-s', folder]);
};
