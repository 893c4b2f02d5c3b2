import { open, readFile, rename } from 'node:fs/promises';

/** Replaces a file atomically, readable by its owner only: after a crash it has either the old or the new content. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const next = `${path}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(next, path);
};

/** The parsed JSON of a file; undefined if the file is missing or torn. */
export const readJsonFile = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
};
