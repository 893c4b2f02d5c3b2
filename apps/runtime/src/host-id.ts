import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@berth/config';
import { isId, newId } from '@berth/kernel';
import { readStored, writeDurably, type StoredContent } from './durable-file.js';

/**
 * The id of this host (`hst_…`), stored in its data folder: `given` by the operator, otherwise generated on the first
 * start. Throws `ConfigError` if `given` differs from the stored id, under which the agents of this host are recorded,
 * and if the stored id cannot be read.
 */
export const hostId = async (dataDir: string, given?: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'host-id.json');
  const kept = await readStored(file, HOST_ID);
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

/** Under a new id, this host would not know its agents. */
const HOST_ID: StoredContent<string> = {
  description: 'the id of this host',
  parse: (json) => (typeof json === 'string' && isId('hst', json) ? json : undefined),
};
