import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RunAs } from '../driver.js';

const run = promisify(execFile);

/** Makes the folder and all in it the property of a task's user. Never follows a link. */
export const giveFolder = async (folder: string, { uid, gid }: RunAs): Promise<void> => {
  await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, folder]);
};

/**
 * Takes the folder back: every user may read it and none but ours may write. Deletes what no code needs (devices, sockets,
 * pipes) and files of other users, which the task can only have linked. Call it when no process of the task is left.
 */
export const takeFolder = async (folder: string, owner: RunAs | null): Promise<void> => {
  await run('find', [folder, '-depth', '!', '-type', 'f', '!', '-type', 'd', '!', '-type', 'l', '-delete']);
  if (owner === null) {
    await run('chmod', ['-R', 'u=rX,go=rX,ug-s', folder]);
    return;
  }
  await run('find', [folder, '-depth', '!', '-uid', String(owner.uid), '-delete']);
  await run('chown', ['-R', '-h', '-P', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`, folder]);
  await run('chmod', ['-R', 'u=rwX,go=rX,ug-s', folder]);
};
