/** The version of a program: `missing` if it is not installed, `unknown` if it did not report its version. */
export type FoundVersion = 'missing' | 'unknown' | readonly [major: number, minor: number];

/** The facts about this host that the nerdctl driver depends on. */
export interface HostFacts {
  readonly platform: string;
  readonly isRoot: boolean;
  readonly kernel: FoundVersion;
  readonly nerdctl: FoundVersion;
  /** `silent`: it did not respond; `unknown` also without nerdctl. */
  readonly containerd: FoundVersion | 'silent';
  readonly runc: FoundVersion;
  readonly address: string;
  readonly subidUser: string;
  /** The operator's runtime class. */
  readonly runtimeClass: string;
  /** The program of the runtime class, if this host lacks it. */
  readonly missingShim: string | null;
  readonly hasSubordinateIds: boolean;
  readonly hasFreezer: boolean;
  /** Names of CNI plugins and of programs that are missing. */
  readonly missingPlugins: readonly string[];
  readonly missingPrograms: readonly string[];
  readonly hasLoopDevices: boolean;
  /** What the kernel, or the program for it, cannot do: pairs of interfaces and bridges; rules of the firewall. */
  readonly missingNetwork: readonly ('links' | 'rules')[];
}

/** One requirement of the nerdctl driver. */
export interface HostCheck {
  readonly name: string;
  /** What was found, for example a version; empty for something that has no version. */
  readonly found: string;
  /** What is wrong and what to do about it, one line each; empty if the host meets the requirement. */
  readonly problems: readonly string[];
}

const LEAST = { kernel: [5, 19], nerdctl: [2, 1], containerd: [2, 0], runc: [1, 2] } as const;
const PACKAGES: Readonly<Record<string, string>> = {
  nft: 'nftables',
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  'mkfs.ext4': 'e2fsprogs',
  bash: 'bash',
  mkfifo: 'coreutils',
};
const FULL_ARCHIVE = 'unpack the nerdctl-full archive into /usr/local';

/** The requirements that this host does not meet, one line each with the remedy. */
export const hostProblems = (facts: HostFacts): readonly string[] =>
  hostChecks(facts).flatMap(({ problems }) => problems);

/** Every requirement of the nerdctl driver that can be checked on this host. */
export const hostChecks = (facts: HostFacts): readonly HostCheck[] => {
  if (facts.platform !== 'linux')
    return [check('platform', facts.platform, 'The nerdctl driver needs Linux.', false)];
  return [
    check('user', 'root', 'The nerdctl driver needs root: start the runtime as root.', facts.isRoot),
    versionCheck('Linux', facts.kernel, LEAST.kernel, 'update the kernel'),
    versionCheck(
      'nerdctl',
      facts.nerdctl,
      LEAST.nerdctl,
      `${FULL_ARCHIVE}, or set BERTH_NERDCTL to its path`,
    ),
    ...containerdChecks(facts),
    ...featureChecks(facts),
  ];
};

const containerdChecks = ({ nerdctl, containerd, runc, address }: HostFacts): readonly HostCheck[] => {
  const ofRunc = versionCheck('runc', runc, LEAST.runc, FULL_ARCHIVE);
  if (containerd === 'silent') {
    const problem = `containerd does not respond on ${address}: start it, or set CONTAINERD_ADDRESS to its socket.`;
    return [check('containerd', '', problem, false), ofRunc];
  }
  if (nerdctl === 'missing') return [ofRunc];
  return [versionCheck('containerd', containerd, LEAST.containerd, FULL_ARCHIVE), ofRunc];
};

const featureChecks = (facts: HostFacts): readonly HostCheck[] => {
  const { subidUser, hasSubordinateIds, hasFreezer, hasLoopDevices, missingPlugins, missingPrograms } = facts;
  return [
    check(
      'subordinate ids',
      `65,536 for ${subidUser}`,
      `/etc/subuid and /etc/subgid have no 65,536 ids for ${subidUser}: run "useradd --system ${subidUser}" and ` +
        `add the line ${subidUser}:200000:65536 to both.`,
      hasSubordinateIds,
    ),
    check(
      'runtime class',
      facts.runtimeClass,
      `The runtime class ${facts.runtimeClass} is not on this host: install ${facts.missingShim ?? ''}, or set ` +
        "runtime.class in the operator's file to runc.",
      facts.missingShim === null,
    ),
    check(
      'freezer',
      '',
      'No control groups can freeze processes: mount the cgroup2 file system.',
      hasFreezer,
    ),
    check(
      'CNI plugins',
      '',
      `The CNI plugins ${missingPlugins.join(', ')} are missing: ${FULL_ARCHIVE}, or set CNI_PATH to their folder.`,
      missingPlugins.length === 0,
    ),
    ...Object.entries(PACKAGES).map(([name, inPackage]) =>
      check(
        name,
        '',
        `${name} is missing: install the package ${inPackage}.`,
        !missingPrograms.includes(name),
      ),
    ),
    check('loop devices', '', '/dev/loop-control is missing: load the kernel module loop.', hasLoopDevices),
    ...networkChecks(facts),
  ];
};

/** Only root and the programs can try them. */
const networkChecks = ({ isRoot, missingPrograms, missingNetwork }: HostFacts): readonly HostCheck[] =>
  !isRoot || ['nft', 'ip'].some((name) => missingPrograms.includes(name))
    ? []
    : [
        check(
          'network interfaces',
          'veth, bridge',
          'The kernel cannot create network interfaces of the types veth and bridge: load the modules veth and bridge.',
          !missingNetwork.includes('links'),
        ),
        check(
          'firewall rules',
          'nftables',
          'The kernel does not take the rules of nftables that agents need: load the modules nf_tables, nft_fib_inet, ' +
            'nft_reject_inet, nft_masq and nft_ct.',
          !missingNetwork.includes('rules'),
        ),
      ];

const check = (name: string, found: string, problem: string, isMet: boolean): HostCheck => ({
  name,
  found: isMet ? found : '',
  problems: isMet ? [] : [problem],
});

const versionCheck = (
  name: string,
  found: FoundVersion | 'silent',
  least: readonly [number, number],
  remedy: string,
): HostCheck => {
  const needed = least.join('.');
  if (found === 'missing') return check(name, '', `${name} ${needed} or newer is missing: ${remedy}.`, false);
  if (typeof found === 'string')
    return check(name, '', `The version of ${name} could not be read; it must be ${needed} or newer.`, false);
  const [major, minor] = found;
  const isEnough = major > least[0] || (major === least[0] && minor >= least[1]);
  const version = `${major}.${minor}`;
  return check(name, version, `${name} is ${version}, and must be ${needed} or newer: ${remedy}.`, isEnough);
};

/** Programs that the driver calls, besides nerdctl. */
export const PROGRAMS: readonly string[] = Object.keys(PACKAGES);
