import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@berth/config';
import { isId, newId } from '@berth/kernel';
import { writeDurably } from './durable-file.js';

/**
 * The id of this host (`hst_…`), stored in its data folder: `given` by the operator, otherwise generated on the first
 * start. Throws `ConfigError` if `given` differs from the stored id, under which the agents of this host are recorded,
 * and if the stored id cannot be read.
 */
export const hostId = async (dataDir: string, given?: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'host-id.json');
  const kept = await readStoredId(file);
  if (kept !== undefined) {
    if (given !== undefined && given !== kept)
      throw new ConfigError([
        `BERTH_HOST_ID must be ${kept}, the id that this host has stored in BERTH_RUNTIME_DATA`,
      ]);
    return kept;
  }
  const id = given ?? newId('hst');
  await writeDurably(file, JSON.stringify(id));
  return id;
};

/** Returns undefined only if the file is missing: under a new id, this host would not know its agents. */
const readStoredId = async (file: string): Promise<string | undefined> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ConfigError(
      [`${file}, which stores the id of this host, cannot be read (${error.code ?? 'unknown error'})`],
      { cause: error },
    );
  });
  if (text === undefined) return undefined;
  const id = parsed(text);
  if (typeof id === 'string' && isId('hst', id)) return id;
  throw new ConfigError([`${file} must contain the id of this host as a JSON string; restore the file`]);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
