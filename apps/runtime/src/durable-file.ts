import { open, readFile, rename } from 'node:fs/promises';

/** Replaces a file as a whole, readable by its owner alone: after a crash it is the old or the new one. */
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

/** The JSON in a file; undefined where there is no such file or it is torn. */
export const readJsonFile = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
};
