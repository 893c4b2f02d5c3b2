import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ListedContainer } from './container-list.js';
import type { NerdctlHost } from './nerdctl-host.js';
import { INSIDE } from './paths-inside.js';

/** The name of the kit that a container has, by the text of its `/proc/<pid>/mountinfo`; undefined if it has none. */
export const kitOf = (mountInfo: string): string | undefined => {
  const fields = mountInfo.split('\n').map((line) => line.split(' '));
  const root = fields.find(([, , , , mountPoint]) => mountPoint === INSIDE.kit)?.[3];
  return root === undefined ? undefined : basename(root);
};

/** Deletes the kits beside `current` that are not `used`, and what an interrupted start has left of one. */
export const removeOthers = async (current: string, used: ReadonlySet<string>): Promise<void> => {
  const parent = dirname(current);
  for (const name of await readdir(parent))
    if (name !== basename(current) && !used.has(name))
      await rm(join(parent, name), { recursive: true, force: true });
};

/**
 * Deletes the kits of a host that none of its `containers` uses. Not for a folder that several installations share, which
 * may have kits that are just about to be used.
 */
export const removeOldKits = async (
  { cgroups, groups, kit }: Pick<NerdctlHost, 'cgroups' | 'groups' | 'kit'>,
  containers: readonly ListedContainer[],
): Promise<void> => {
  const used = containers.map(async ({ agentId, id }) => {
    const [pid] = await cgroups.pids(groups.nameOf(agentId, id));
    return kitOf(await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => ''));
  });
  await removeOthers(kit.folder, new Set((await Promise.all(used)).flatMap((name) => name ?? [])));
};
