import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { INSIDE } from './paths-inside.js';

/** The name of the kit that a container has, by the text of its `/proc/<pid>/mountinfo`; undefined if it has none. */
export const kitOf = (mountInfo: string): string | undefined => {
  const fields = mountInfo.split('\n').map((line) => line.split(' '));
  const root = fields.find(([, , , , mountPoint]) => mountPoint === INSIDE.kit)?.[3];
  return root === undefined ? undefined : basename(root);
};

/** Deletes the kits beside `current` that are not `used`, and what an interrupted start has left of one. */
export const removeOldKits = async (current: string, used: ReadonlySet<string>): Promise<void> => {
  const parent = dirname(current);
  for (const name of await readdir(parent))
    if (name !== basename(current) && !used.has(name))
      await rm(join(parent, name), { recursive: true, force: true });
};
