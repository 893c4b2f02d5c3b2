import { createReadStream, createWriteStream } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Download } from './download.js';
import type { FileSource } from './file-body.js';
import { randomId } from './runtime.js';

/** A file to upload, which is read in pieces as it is sent. It need not exist before. */
export const fileFromPath = (path: string | URL): FileSource => {
  const file = pathOf(path);
  return {
    name: basename(file),
    open: async () => {
      const handle = await open(file);
      if ((await handle.stat()).isDirectory()) {
        await handle.close();
        throw new TypeError(`${file} is a folder.`);
      }
      return createReadStream(file, { fd: handle });
    },
  };
};

/**
 * Writes a download to a file, all of it or, if that fails, nothing. A file that is there is replaced once all bytes have
 * come.
 */
export const saveTo = async (path: string | URL, download: Download): Promise<void> => {
  let part: string | undefined;
  try {
    const target = await existing(pathOf(path));
    part = join(dirname(target), `.${basename(target).slice(0, 32)}.${randomId()}.part`);
    await download.stream().pipeTo(Writable.toWeb(createWriteStream(part, { flags: 'wx' })));
    await rename(part, target);
  } catch (error) {
    download.cancel();
    if (part !== undefined) await rm(part, { force: true });
    throw error;
  }
};

const pathOf = (path: string | URL): string => {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path !== 'string' || path === '') throw new TypeError('A path must be a string, and not empty.');
  return path;
};

/** The path of the file that a link names, or of one that does not exist. */
const existing = async (path: string): Promise<string> => {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory() === true) throw new TypeError(`${target} is a folder.`);
  return target;
};
