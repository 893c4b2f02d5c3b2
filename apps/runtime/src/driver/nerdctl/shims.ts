import { readFile } from 'node:fs/promises';
import { listPids, readUid } from '../process-table.js';

/** The process through which containerd holds a container. */
export interface Shim {
  readonly pid: number;
  readonly container: string;
}

const PROGRAM = /(?:^|\/)containerd-shim-[^/]+$/;
/** Subcommands of shim programs that exit after their work and are not shims of a container. */
const CALLS = ['start', 'delete'];

/** The shims of the containers of a containerd namespace. */
export const listShims = async (namespace: string): Promise<readonly Shim[]> => {
  const found = await Promise.all(
    (await listPids()).map(async (pid): Promise<readonly Shim[]> => {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const container = containerOfShim(text.split('\0'), namespace);
      if (container === undefined) return [];
      // Processes of agents can have any command line, but never this user.
      return (await readUid(pid)) === 0 ? [{ pid, container }] : [];
    }),
  );
  return found.flat();
};

/** The container of the shim with that command line; undefined: it is none of that namespace. */
export const containerOfShim = (words: readonly string[], namespace: string): string | undefined => {
  const valueOf = (option: string): string | undefined =>
    words.includes(option) ? words[words.indexOf(option) + 1] : undefined;
  if (!PROGRAM.test(words[0] ?? '') || valueOf('-namespace') !== namespace) return undefined;
  return CALLS.some((call) => words.includes(call)) ? undefined : valueOf('-id');
};
