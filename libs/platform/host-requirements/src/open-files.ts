import { readFile } from 'node:fs/promises';
import { listPids } from './process-ids.js';

/** How many open files every process of an agent may have. */
export const WANTED_OPEN_FILES = 65_536;

/** The hard limit for open files in the text of `/proc/<pid>/limits`; undefined if it has none. */
export const hardLimitOfFiles = (limits: string): number | undefined => {
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? undefined : Number(hard);
};

/** The hard limit of the containerd with the lowest one; undefined if none runs or none has a limit. */
export const openFilesOfContainerd = async (): Promise<number | undefined> => {
  const found = await Promise.all(
    (await listPids()).map(async (pid) => {
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
      if (name.trim() !== 'containerd') return [];
      return hardLimitOfFiles(await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '')) ?? [];
    }),
  );
  const limits = found.flat();
  return limits.length === 0 ? undefined : Math.min(...limits);
};

/**
 * The limit for the open files of agents. A user namespace can only lower limits, so it is containerd's own hard limit
 * if that is lower than what Berth wants.
 */
export const openFilesLimit = async (): Promise<number> =>
  Math.min(WANTED_OPEN_FILES, (await openFilesOfContainerd()) ?? WANTED_OPEN_FILES);
