import { constants } from 'node:fs';
import { link, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_FILE_BYTES, logFileName, newestLogFile, outdatedLogFiles } from '@berth/guest-protocol';

/** Follows no symlink and opens no FIFO: the guest can write here, and the host may be root. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Appends whole lines to the log in that folder, in which a guest may write at the same time. Both append to the newest
 * file, create the next one when it is full, and delete the same files, so that it does not matter which of them does.
 * What does not fit into the next one either is lost.
 */
export const appendToLog = async (folder: string, text: string): Promise<void> => {
  const chunk = Buffer.from(text);
  const newest = newestLogFile(await readdir(folder));
  if (await appendTo(folder, newest, chunk)) return;
  const next = newest + 1;
  await appendTo(folder, next, chunk);
  for (const name of outdatedLogFiles(await readdir(folder), next))
    await rm(join(folder, name), { force: true });
};

/** Whether the lines fitted. An empty file takes any. */
const appendTo = async (folder: string, number: number, chunk: Buffer): Promise<boolean> => {
  await using file = await openFile(folder, number);
  const { size } = await file.stat();
  if (size > 0 && size + chunk.length > LOG_FILE_BYTES) return false;
  await file.appendFile(chunk);
  return true;
};

const openFile = async (folder: string, number: number): Promise<FileHandle> => {
  const path = join(folder, logFileName(number));
  return open(path, APPEND).catch(async (error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    await createFor(folder, path);
    return open(path, APPEND);
  });
};

let filesMade = 0;

/** Creates a file that the guest can write to from the moment it exists: it belongs to the owner of the folder. */
const createFor = async (folder: string, path: string): Promise<void> => {
  const { uid, gid } = await stat(folder);
  const making = join(folder, `${process.pid}-${++filesMade}.new`);
  // Of an earlier process with the same number.
  await rm(making, { force: true });
  try {
    await using file = await open(making, 'wx', 0o600);
    if (uid !== process.getuid?.()) await file.chown(uid, gid);
    // Fails if the guest has created it meanwhile.
    await link(making, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(making, { force: true });
  }
};

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
