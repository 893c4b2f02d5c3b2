import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TopFiles } from './starts-with.plan.js';

const MAX_BYTES = 1_048_576;

/** Reads what a checked-out repository says about itself; follows no link. */
export const readTopFiles = async (folder: string): Promise<TopFiles> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  const [berthJson, packageJson] = await Promise.all([
    // Anything else of that name is meant to say how the repository starts, and is not valid.
    entries.some(({ name }) => name === 'berth.json') ? readText(join(folder, 'berth.json')) : null,
    names.has('package.json') ? readText(join(folder, 'package.json')) : null,
  ]);
  return { names, berthJson, packageJson };
};

/** The Dockerfile of a checked-out repository, if it is valid in size. */
export const readDockerfile = (folder: string): Promise<string> => readText(join(folder, 'Dockerfile'));

/** The text of a regular file of at most 1 MiB; any other is empty. */
const readText = async (path: string): Promise<string> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return '';
  try {
    const info = await file.stat();
    return info.isFile() && info.size <= MAX_BYTES ? await file.readFile('utf8') : '';
  } finally {
    await file.close();
  }
};
