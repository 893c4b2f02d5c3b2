/** One folder or file of the host as the agent sees it. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly kind: 'folder' | 'file';
  readonly readOnly: boolean;
}

/** How a guest is launched: which groups it joins, what it sees, what it runs. */
export interface Launch {
  /** Files that a process writes its id into to join a group. */
  readonly groups: readonly string[];
  /** Mounts of a namespace of its own, all below `root`; null: the host as it is. */
  readonly view: { readonly root: string; readonly mounts: readonly Mount[] } | null;
  /** Whether setuid programs are to have no effect (needs setpriv). */
  readonly noNewPrivileges: boolean;
  readonly command: readonly string[];
}

/** KiB. */
const STACK_KIB = 10_240;

/**
 * Linux takes a quarter of the stack's limit for arguments and environment of a program: the usual 8 MiB do not hold the
 * largest command beside the largest environment of an agent (1 MiB each), 10 MiB do. Never lowers the limit, and goes on
 * where it cannot be raised.
 */
const MORE_ROOM_FOR_ARGUMENTS =
  `stack=$(ulimit -S -s); [ "$stack" = unlimited ] || [ "$stack" -ge ${STACK_KIB} ] ` +
  `|| ulimit -S -s ${STACK_KIB} 2>/dev/null || true`;

/**
 * A script for `sh` that becomes the command, under its own process id, so that it and everything it ever starts is
 * inside from the first instruction. Fails without running the command when any of it cannot be had.
 */
export const launchScript = ({ groups, view, noNewPrivileges, command }: Launch): string => {
  const run = words(['exec', ...(noNewPrivileges ? ['setpriv', '--no-new-privs', '--'] : []), ...command]);
  const join = groups.map((file) => `echo $$ > ${quote(file)}`);
  if (view === null) return ['set -e', MORE_ROOM_FOR_ARGUMENTS, ...join, run].join('\n');
  const inside = ['set -e', ...mountView(view.root, view.mounts), run].join('\n');
  return ['set -e', MORE_ROOM_FOR_ARGUMENTS, ...join, words(['exec', ...ownMounts('sh', '-c', inside)])].join(
    '\n',
  );
};

/** The command line that runs a command in a mount namespace of its own. */
export const ownMounts = (...command: readonly string[]): readonly string[] => [
  'unshare',
  '--mount',
  '--propagation',
  'private',
  '--',
  ...command,
];

const mountView = (root: string, mounts: readonly Mount[]): readonly string[] => [
  words(['mount', '-t', 'tmpfs', '-o', 'mode=0755,size=64k', 'berth', root]),
  ...mounts.flatMap(({ from, to, kind, readOnly }) => [
    words(['mkdir', '-p', kind === 'folder' ? to : to.slice(0, to.lastIndexOf('/'))]),
    ...(kind === 'file' ? [`: > ${quote(to)}`] : []),
    words(['mount', '--bind', from, to]),
    ...(readOnly ? [words(['mount', '-o', 'remount,ro,bind', to])] : []),
  ]),
  words(['mount', '-o', 'remount,ro,mode=0755,size=64k', root]),
];

const words = (list: readonly string[]): string => list.map(quote).join(' ');

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
