import { spawnSync } from 'node:child_process';

/** The user that a child runs as; undefined means the user of this process. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** How to spawn: a command line, and the ids to pass to `spawn` if Node changes the user. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly runAs?: RunAs;
}

let setprivWorks: boolean | undefined;

/**
 * Wraps a command so that the kernel sends it `deathSignal` when this process dies, even by kill -9. Needs util-linux's
 * setpriv (Linux). Elsewhere it returns the command unchanged, and the next start finds and ends what is left behind.
 * The signal is tied to the *thread* that spawned, so spawn from the main thread only.
 */
export function dieWithParent(
  command: string,
  args: readonly string[],
  deathSignal: NodeJS.Signals,
  runAs?: RunAs,
): SpawnCommand {
  if (!hasSetpriv()) return { command, args, ...(runAs ? { runAs } : {}) };
  const user = runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
  // setpriv sets the death signal after it has changed the user, because that change would clear the signal.
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
