/** A bind mount: a folder or file of the host and its path inside the agent. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly kind: 'folder' | 'file';
  readonly readOnly: boolean;
}

/** How to launch a guest: the groups it joins, its mounts, its command. */
export interface Launch {
  /** Files to which a process writes `0` to join a group. */
  readonly groups: readonly string[];
  /** Mounts of a private mount namespace, all below `root`; null: the host's file system as it is. */
  readonly view: { readonly root: string; readonly mounts: readonly Mount[] } | null;
  /** Whether to disable setuid programs (requires setpriv). */
  readonly noNewPrivileges: boolean;
  readonly command: readonly string[];
}

/** Minimum stack limit of a guest in KiB. */
const STACK_KIB = 10_240;

/**
 * Linux allows a quarter of the stack limit for a program's arguments and environment. The usual 8 MiB are too small
 * for the largest command together with the largest environment of an agent (1 MiB each); 10 MiB suffice. Never lowers
 * the limit, and continues if it cannot be raised.
 */
const MORE_ROOM_FOR_ARGUMENTS =
  `stack=$(ulimit -S -s); [ "$stack" = unlimited ] || [ "$stack" -ge ${STACK_KIB} ] ` +
  `|| ulimit -S -s ${STACK_KIB} 2>/dev/null || true`;

/**
 * A script for `sh` that ends in an exec of the command and keeps its process id, so that the command and all its
 * children are inside from the first instruction. Exits without running the command if any step fails.
 */
export const launchScript = ({ groups, view, noNewPrivileges, command }: Launch): string => {
  const run = quoteAll(['exec', ...(noNewPrivileges ? ['setpriv', '--no-new-privs', '--'] : []), ...command]);
  const join = groups.map((file) => `echo 0 > ${quote(file)}`);
  if (view === null) return ['set -e', MORE_ROOM_FOR_ARGUMENTS, ...join, run].join('\n');
  const inside = ['set -e', ...mountView(view.root, view.mounts), run].join('\n');
  return [
    'set -e',
    MORE_ROOM_FOR_ARGUMENTS,
    ...join,
    quoteAll(['exec', ...ownMounts('sh', '-c', inside)]),
  ].join('\n');
};

/** The command line that runs a command in its own mount namespace. */
export const ownMounts = (...command: readonly string[]): readonly string[] => [
  'unshare',
  '--mount',
  '--propagation',
  'private',
  '--',
  ...command,
];

const mountView = (root: string, mounts: readonly Mount[]): readonly string[] => [
  quoteAll(['mount', '-t', 'tmpfs', '-o', 'mode=0755,size=64k', 'berth', root]),
  ...mounts.flatMap(({ from, to, kind, readOnly }) => [
    quoteAll(['mkdir', '-p', kind === 'folder' ? to : to.slice(0, to.lastIndexOf('/'))]),
    ...(kind === 'file' ? [`: > ${quote(to)}`] : []),
    quoteAll(['mount', '--bind', from, to]),
    ...(readOnly ? [quoteAll(['mount', '-o', 'remount,ro,bind', to])] : []),
  ]),
  quoteAll(['mount', '-o', 'remount,ro,mode=0755,size=64k', root]),
];

const quoteAll = (list: readonly string[]): string => list.map(quote).join(' ');

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
