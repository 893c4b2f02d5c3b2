import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isId, newId } from '@berth/kernel';
import { readJsonFile, writeDurably } from './durable-file.js';

/** The id of this host (`hst_…`), made on its first start and kept in its data folder. */
export const hostId = async (dataDir: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'host-id.json');
  const kept = await readJsonFile(file);
  if (typeof kept === 'string' && isId('hst', kept)) return kept;
  const id = newId('hst');
  await writeDurably(file, JSON.stringify(id));
  return id;
};
