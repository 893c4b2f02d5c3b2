/** A version of a program: `missing`, or not known because the program could not be asked. */
export type FoundVersion = 'missing' | 'unknown' | readonly [major: number, minor: number];

/** What the nerdctl driver depends on, as found on this host. */
export interface HostFacts {
  readonly platform: string;
  readonly isRoot: boolean;
  readonly kernel: FoundVersion;
  readonly nerdctl: FoundVersion;
  /** containerd and runc as nerdctl finds them; `silent`: containerd did not respond. */
  readonly containerd: FoundVersion | 'silent';
  readonly runc: FoundVersion;
  readonly address: string;
  readonly subidUser: string;
  readonly hasSubordinateIds: boolean;
  readonly hasFreezer: boolean;
  /** Names of CNI plugins and of programs that are missing. */
  readonly missingPlugins: readonly string[];
  readonly missingPrograms: readonly string[];
  readonly hasLoopDevices: boolean;
}

const LEAST = { kernel: [5, 19], nerdctl: [2, 1], containerd: [2, 0], runc: [1, 2] } as const;
const PACKAGES: Readonly<Record<string, string>> = {
  nft: 'nftables',
  'mkfs.ext4': 'e2fsprogs',
  setpriv: 'util-linux',
};
const FULL_ARCHIVE = 'unpack the nerdctl-full archive into /usr/local';

/** What this host lacks, one line each with what to do. */
export const hostProblems = (facts: HostFacts): readonly string[] => {
  if (facts.platform !== 'linux') return ['The nerdctl driver needs Linux.'];
  return [
    ...(facts.isRoot ? [] : ['The nerdctl driver needs root: start the runtime as root.']),
    ...versionProblem('Linux', facts.kernel, LEAST.kernel, 'update the kernel'),
    ...versionProblem(
      'nerdctl',
      facts.nerdctl,
      LEAST.nerdctl,
      `${FULL_ARCHIVE}, or set BERTH_NERDCTL to its path`,
    ),
    ...containerdProblems(facts),
    ...hostFeatureProblems(facts),
  ];
};

const containerdProblems = ({ nerdctl, containerd, runc, address }: HostFacts): readonly string[] => {
  // Only nerdctl can ask them.
  if (nerdctl === 'missing') return [];
  if (containerd === 'silent')
    return [`containerd does not respond on ${address}: start it, or set CONTAINERD_ADDRESS to its socket.`];
  return [
    ...versionProblem('containerd', containerd, LEAST.containerd, FULL_ARCHIVE),
    ...versionProblem('runc', runc, LEAST.runc, FULL_ARCHIVE),
  ];
};

const hostFeatureProblems = (facts: HostFacts): readonly string[] => {
  const { subidUser, hasSubordinateIds, hasFreezer, hasLoopDevices, missingPlugins, missingPrograms } = facts;
  return [
    ...(hasSubordinateIds
      ? []
      : [
          `/etc/subuid and /etc/subgid have no 65,536 ids for ${subidUser}: run "useradd --system ${subidUser}" and ` +
            `add the line ${subidUser}:200000:65536 to both.`,
        ]),
    ...(hasFreezer ? [] : ['No control groups can freeze processes: mount the cgroup2 file system.']),
    ...(missingPlugins.length === 0
      ? []
      : [
          `The CNI plugins ${missingPlugins.join(', ')} are missing: ${FULL_ARCHIVE}, or set CNI_PATH to their folder.`,
        ]),
    ...missingPrograms.map((name) => `${name} is missing: install the package ${PACKAGES[name] ?? name}.`),
    ...(hasLoopDevices ? [] : ['/dev/loop-control is missing: load the kernel module loop.']),
  ];
};

const versionProblem = (
  name: string,
  found: FoundVersion | 'silent',
  least: readonly [number, number],
  remedy: string,
): readonly string[] => {
  const needed = least.join('.');
  if (found === 'missing') return [`${name} ${needed} or newer is missing: ${remedy}.`];
  if (typeof found === 'string')
    return [`The version of ${name} could not be read; it must be ${needed} or newer.`];
  const [major, minor] = found;
  if (major > least[0] || (major === least[0] && minor >= least[1])) return [];
  return [`${name} is ${major}.${minor}, and must be ${needed} or newer: ${remedy}.`];
};
