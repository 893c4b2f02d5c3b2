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
  const { uid, gid, launcher, shell } = runAs;
  if (launcher === undefined) return { file, args, env, user: { uid, gid, argv0 } };
  const [program, ...options] = launcher;
  const { passed, held } = withhold(env);
  if (held.length === 0) return { file: program, args: [...options, file, ...args], env, user: {} };
  if (shell === undefined) return { file: program, args: [...options, file, ...args], env: passed, user: {} };
  return {
    file: program,
    args: [...options, shell, '--norc', '-p', '-c', RESTORE, shell, file, ...args],
    env: { ...passed, [HELD]: held.map(([name, value]) => `export ${name}=${quoted(value)}`).join('\n') },
    user: {},
  };
};

/** Sets what was withheld, then becomes the command. */
const HELD = 'BERTH_HELD_VARIABLES';
const RESTORE = `eval "$${HELD}"; unset ${HELD}; exec "$@"`;

/**
 * Variables by which the agent would run code of its own in the launcher, which still has the rights of the guest: those
 * that the C library ignores in programs that change their user by themselves (its `unsecvars.h`), and those of the shell.
 */
const UNSAFE =
  /^(?:LD_.*|GLIBC_.*|MALLOC_.*|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR|LANGUAGE)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const withhold = (env: AgentProcess['env']) => {
  const entries = Object.entries(env);
  return {
    passed: Object.fromEntries(entries.filter(([name]) => !UNSAFE.test(name))),
    held: entries.filter(([name]) => UNSAFE.test(name) && NAME.test(name)),
  };
};

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
