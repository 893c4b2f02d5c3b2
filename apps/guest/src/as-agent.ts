import type { RunAsUser } from '@berth/guest-protocol';

/** What to spawn instead of a command, so that it runs as the agent's user. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** For the options of `spawn`. */
  readonly user: { readonly uid?: number; readonly gid?: number; readonly argv0?: string };
}

/**
 * The command as the agent's user; null: the user of this process. `argv0` is the name that the command sees of itself;
 * a launcher calls it by its path.
 */
export const asAgent = (
  runAs: RunAsUser | null,
  file: string,
  args: readonly string[],
  argv0: string = file,
): AgentCommand => {
  if (runAs === null) return { file, args, user: { argv0 } };
  const { uid, gid, launcher } = runAs;
  if (launcher === undefined) return { file, args, user: { uid, gid, argv0 } };
  const [program, ...options] = launcher;
  return { file: program, args: [...options, file, ...args], user: {} };
};
