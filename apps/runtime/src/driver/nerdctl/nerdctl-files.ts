import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../remove-tree.js';
import type { NerdctlScope } from './nerdctl-arguments.js';

/**
 * Removes what nerdctl keeps of containers that do not exist: a call that was ended before or after it changed
 * containerd leaves its own files. Call it while no container is being created.
 */
export const removeForgottenFiles = async (
  { dataRoot, namespace }: NerdctlScope,
  exist: ReadonlySet<string>,
): Promise<void> => {
  // One folder for each address of containerd.
  for (const store of await entriesOf(dataRoot)) {
    const containers = join(dataRoot, store, 'containers', namespace);
    for (const id of await entriesOf(containers)) if (!exist.has(id)) await removeTree(join(containers, id));
    const names = join(dataRoot, store, 'names', namespace);
    for (const name of await entriesOf(names)) {
      const id = await readFile(join(names, name), 'utf8').catch(() => '');
      if (CONTAINER.test(id) && !exist.has(id)) await rm(join(names, name), { force: true });
    }
  }
};

/** Removes what nerdctl keeps of these containers, which do not exist any more. */
export const removeFilesOf = async (
  { dataRoot, namespace }: NerdctlScope,
  containers: readonly string[],
): Promise<void> => {
  for (const store of await entriesOf(dataRoot))
    for (const id of containers) await removeTree(join(dataRoot, store, 'containers', namespace, id));
};

const CONTAINER = /^[0-9a-f]{64}$/;

const entriesOf = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
