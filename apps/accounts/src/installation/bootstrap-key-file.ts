import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, readdir, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isWellFormedKey } from '@berth/contracts/accounts';

/** The key of an existing file; null without one. Throws when the file holds anything else. */
export const readKeyFile = async (path: string): Promise<string | null> => {
  const text = await readFile(path, 'utf8').catch(nullIfMissing);
  if (text === null) return null;
  const key = text.trim();
  if (!isWellFormedKey(key)) {
    throw new Error(
      `${path} holds no well-formed key. Remove the file to have a new key made, or put a key there.`,
    );
  }
  return key;
};

/**
 * Writes `key` unless the file exists, readable by its owner only, and returns the key in the file: another's,
 * when that was there first. The file appears with all it holds or not at all, whenever the process or the machine
 * stops, and is never replaced.
 */
export const createKeyFile = async (path: string, key: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `${draftPrefix(path)}${randomUUID()}`);
  try {
    await writeDurably(draft, `${key}\n`);
    await link(draft, path);
    await flushFolder(dirname(path));
  } catch (error) {
    // Another was first; it may have swept the draft away too.
    const theirs = await readKeyFile(path);
    if (theirs === null) throw error;
    return theirs;
  } finally {
    await rm(draft, { force: true });
  }
  return key;
};

/** Removes temporary files of interrupted starts. Call it once the file exists. */
export const sweepDrafts = async (path: string): Promise<void> => {
  const folder = dirname(path);
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(draftPrefix(path)));
  await Promise.all(drafts.map((name) => rm(join(folder, name), { force: true })));
};

const draftPrefix = (path: string): string => `.${basename(path)}.new-`;

/** Takes a file that others may read from them. Refused (a mounted secret): it is the operator's. */
export const closeToOthers = async (path: string): Promise<void> => {
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
