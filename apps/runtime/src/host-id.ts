import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@berth/config';
import { isId, newId } from '@berth/kernel';
import { readJsonFile, writeDurably } from './durable-file.js';

/**
 * The id of this host (`hst_…`), stored in its data folder: `given` by the operator, otherwise generated on the first
 * start. Throws `ConfigError` if `given` differs from the stored id, under which the agents of this host are recorded.
 */
export const hostId = async (dataDir: string, given?: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'host-id.json');
  const kept = await readJsonFile(file);
  if (typeof kept === 'string' && isId('hst', kept)) {
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
