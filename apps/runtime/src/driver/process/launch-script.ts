/** A bind mount: a folder or file of the host and its path inside the agent. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly kind: 'folder' | 'file';
  readonly readOnly: boolean;
}

/** What a folder of the host is inside the agent: another folder of the host, or a new file system in memory. */
export type Cover =
  | { readonly at: string; readonly from: string }
  | { readonly at: string; readonly type: 'tmpfs' | 'mqueue'; readonly options: string };

/** What an agent sees of the host's file system. */
export interface View {
  /** The namespaces of its own that the agent gets, as options of `unshare`. */
  readonly namespaces: readonly string[];
  /** Folder with all of `mounts`. */
  readonly root: string;
  readonly mounts: readonly Mount[];
  readonly covers: readonly Cover[];
  /** Folders that stay as they are, below those that are covered. */
  readonly kept: readonly string[];
}

/** How to launch a guest: the groups it joins, its mounts, its command. */
export interface Launch {
  /** Files to which a process writes `0` to join a group. */
  readonly groups: readonly string[];
  /** null: the host's file system as it is. */
  readonly view: View | null;
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
  const inside = ['set -e', ...mountView(view), run].join('\n');
  return [
    'set -e',
    MORE_ROOM_FOR_ARGUMENTS,
    ...join,
    quoteAll(['exec', ...inNamespaces(view.namespaces, 'sh', '-c', inside)]),
  ].join('\n');
};

/** The command line that runs a command in namespaces of its own, one of which is for mounts. */
export const inNamespaces = (
  namespaces: readonly string[],
  ...command: readonly string[]
): readonly string[] => ['unshare', ...namespaces, '--propagation', 'private', '--', ...command];

const mountView = ({ root, mounts, covers, kept }: View): readonly string[] => [
  quoteAll(['mount', '-t', 'tmpfs', '-o', 'mode=0755,size=64k', 'berth', root]),
  ...mounts.flatMap(({ from, to, kind, readOnly }) => [
    quoteAll(['mkdir', '-p', kind === 'folder' ? to : to.slice(0, to.lastIndexOf('/'))]),
    ...(kind === 'file' ? [`: > ${quote(to)}`] : []),
    quoteAll(['mount', '--bind', from, to]),
    ...(readOnly ? [quoteAll(['mount', '-o', 'remount,ro,bind', to])] : []),
  ]),
  ...coverFolders(`${root}/.kept`, covers, kept),
  quoteAll(['mount', '-o', 'remount,ro,mode=0755,size=64k', root]),
];

/** A cover may hide the folders of the others and what is kept, which are therefore held in `hold` meanwhile. */
const coverFolders = (hold: string, covers: readonly Cover[], kept: readonly string[]): readonly string[] => {
  const held =
    kept.length === 0 ? [] : [...covers.flatMap((cover) => ('from' in cover ? cover.from : [])), ...kept];
  const at = (path: string): string => (held.includes(path) ? `${hold}/${held.indexOf(path)}` : path);
  return [
    ...held.flatMap((path) => [
      quoteAll(['mkdir', '-p', '-m', '0700', at(path)]),
      quoteAll(['mount', '--bind', path, at(path)]),
    ]),
    ...covers.map((cover) =>
      'from' in cover
        ? quoteAll(['mount', '--bind', at(cover.from), cover.at])
        : quoteAll(['mount', '-t', cover.type, '-o', cover.options, 'berth', cover.at]),
    ),
    ...kept.flatMap((path) => [
      quoteAll(['mkdir', '-p', path]),
      quoteAll(['mount', '--bind', at(path), path]),
    ]),
    ...(held.length > 0 ? [quoteAll(['umount', ...held.map(at)])] : []),
  ];
};

const quoteAll = (list: readonly string[]): string => list.map(quote).join(' ');

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
