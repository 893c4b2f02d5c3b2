import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, readdir, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isWellFormedKey } from '@berth/contracts/accounts';

/** Returns the key in the file; null if there is no file. Throws if the file contains anything but a key. */
export const readKeyFile = async (path: string): Promise<string | null> => {
  const text = await readFile(path, 'utf8').catch(nullIfMissing);
  if (text === null) return null;
  const key = text.trim();
  if (!isWellFormedKey(key)) {
    throw new Error(
      `${path} contains no well-formed key. Remove the file to have a new key generated, or write a key to it.`,
    );
  }
  return key;
};

/**
 * Creates the file with `key`, readable by its owner only, unless it exists. Returns the key in the file: `key`, or the
 * one that an existing file contains. The file is created atomically, even if the process or the machine
 * crashes, and is never replaced.
 */
export const createKeyFile = async (path: string, key: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `${draftPrefix(path)}${randomUUID()}`);
  try {
    await writeDurably(draft, `${key}\n`);
    await link(draft, path);
    await flushFolder(dirname(path));
  } catch (error) {
    // Another process may have created the file first, and may have removed this draft.
    const existing = await readKeyFile(path);
    if (existing === null) throw error;
    return existing;
  } finally {
    await rm(draft, { force: true });
  }
  return key;
};

/**
 * Removes the drafts of interrupted starts. Call it after the file exists: until then, another process may need its
 * draft to create it.
 */
export const sweepDrafts = async (path: string): Promise<void> => {
  const folder = dirname(path);
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(draftPrefix(path)));
  await Promise.all(drafts.map((name) => rm(join(folder, name), { force: true })));
};

const draftPrefix = (path: string): string => `.${basename(path)}.new-`;

/** Makes the file accessible to its owner only. Ignores failures: a mounted secret, for example, cannot be changed. */
export const restrictToOwner = async (path: string): Promise<void> => {
  await chmod(path, 0o600).catch(() => undefined);
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  await using file: FileHandle = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
};

const flushFolder = async (folder: string): Promise<void> => {
  await using handle: FileHandle = await open(folder, 'r');
  await handle.sync();
};

const nullIfMissing = (error: unknown): null => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
};
