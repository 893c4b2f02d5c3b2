import type { RunAsUser } from '@berth/guest-protocol';

/** A command of the agent. */
export interface AgentProcess {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The name that the command sees of itself; a launcher calls it by its path. */
  readonly argv0?: string;
}

/** What to spawn instead of a command, so that it runs as the agent's user. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** For the options of `spawn`. */
  readonly user: { readonly uid?: number; readonly gid?: number; readonly argv0?: string };
}

/** The command as the agent's user; null: the user of this process. */
export const asAgent = (
  runAs: RunAsUser | null,
  { file, args, env, argv0 = file }: AgentProcess,
): AgentCommand => {
  if (runAs === null) return { file, args, env, user: { argv0 } };
  const { uid, gid, launcher } = runAs;
  if (launcher === undefined) return { file, args, env, user: { uid, gid, argv0 } };
  const [program, ...options] = launcher;
  return { file: program, args: [...options, file, ...args], env, user: {} };
};
