import { spawnSync } from 'node:child_process';

/** Which user a child runs as; absent means the user of this process. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** How to spawn: a command line, and for Node's own change of user the ids to pass to `spawn`. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly runAs?: RunAs;
}

let setprivWorks: boolean | undefined;

/**
 * Wraps a command so that the kernel sends it `deathSignal` when this process dies, kill -9 included.
 * Needs util-linux's setpriv (Linux). Elsewhere the command is returned as it is: what is left behind then is found
 * and ended by the next start. The signal follows the *thread* that spawned, so spawn from the main thread only.
 */
export function dieWithParent(
  command: string,
  args: readonly string[],
  deathSignal: NodeJS.Signals,
  runAs?: RunAs,
): SpawnCommand {
  if (!hasSetpriv()) return { command, args, ...(runAs ? { runAs } : {}) };
  const user = runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
  // setpriv sets the death signal after it has changed the user, a change would clear it.
  return {
    command: 'setpriv',
    args: [...user, '--pdeathsig', deathSignal.replace(/^SIG/, ''), '--', command, ...args],
  };
}

function hasSetpriv(): boolean {
  setprivWorks ??=
    process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'TERM', '--', 'true']).status === 0;
  return setprivWorks;
}
