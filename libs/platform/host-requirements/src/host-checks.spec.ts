import { describe, expect, it } from 'vitest';
import { hostProblems, type HostFacts } from './host-checks.plan.js';
import { parseContainerdVersion, parseVersion } from './nerdctl-versions.js';

const GOOD: HostFacts = {
  platform: 'linux',
  isRoot: true,
  kernel: [6, 1],
  nerdctl: [2, 1],
  containerd: [2, 0],
  runc: [1, 2],
  address: '/run/containerd/containerd.sock',
  subidUser: 'berth',
  runtimeClass: 'runc',
  missingShim: null,
  hasSubordinateIds: true,
  hasFreezer: true,
  missingPlugins: [],
  missingPrograms: [],
  hasLoopDevices: true,
  missingNetwork: [],
};

describe('the host of containers', () => {
  it('has no problems if every program is installed in the minimum version', () => {
    expect(hostProblems(GOOD)).toEqual([]);
  });

  it.each<readonly [Partial<HostFacts>, RegExp]>([
    [{ isRoot: false }, /needs root/],
    [{ kernel: [5, 18] }, /^Linux is 5\.18, and must be 5\.19 or newer: update the kernel\.$/],
    [{ nerdctl: 'missing', containerd: 'unknown' }, /^nerdctl 2\.1 or newer is missing: .*BERTH_NERDCTL/],
    [{ nerdctl: [1, 9] }, /^nerdctl is 1\.9, and must be 2\.1 or newer/],
    [{ nerdctl: 'unknown' }, /^The version of nerdctl could not be read/],
    [{ containerd: [1, 7] }, /^containerd is 1\.7, and must be 2\.0 or newer/],
    [{ containerd: 'silent' }, /containerd\.sock: start it, or set CONTAINERD_ADDRESS/],
    [{ runc: [1, 1] }, /^runc is 1\.1, and must be 1\.2 or newer/],
    [{ hasSubordinateIds: false }, /subuid .*65,536 ids for berth: run "useradd --system berth"/],
    [
      { runtimeClass: 'kata', missingShim: 'containerd-shim-kata-v2' },
      /^The runtime class kata is not on this host: install containerd-shim-kata-v2, or /,
    ],
    [{ hasFreezer: false }, /cgroup2/],
    [{ missingPlugins: ['bridge', 'firewall'] }, /bridge, firewall are missing: .*CNI_PATH/],
    [{ missingPrograms: ['mkfs.ext4'] }, /^mkfs\.ext4 is missing: install the package e2fsprogs\.$/],
    [{ hasLoopDevices: false }, /loop-control is missing/],
    [{ missingPrograms: ['ip'] }, /^ip is missing: install the package iproute2\.$/],
    [
      { missingNetwork: ['links'] },
      /^The kernel cannot create network interfaces .* load the modules veth and bridge\.$/,
    ],
    [
      { missingNetwork: ['rules'] },
      /^The kernel does not take the rules of nftables .* load the modules nf_tables, /,
    ],
    [{ isRoot: false, missingNetwork: ['links', 'rules'] }, /needs root/],
    [
      { missingPrograms: ['nft'], missingNetwork: ['rules'] },
      /^nft is missing: install the package nftables\.$/,
    ],
  ])('with %j has one problem, and one line says what to do', (changes, line) => {
    expect(hostProblems({ ...GOOD, ...changes })).toEqual([expect.stringMatching(line)]);
  });

  it('has one line for each thing that is missing', () => {
    const missing = { nerdctl: 'missing', containerd: 'silent', runc: 'missing' } as const;
    const facts = { ...GOOD, ...missing, kernel: [4, 9], missingPrograms: ['nft'] } as const;
    expect(hostProblems(facts)).toHaveLength(5);
  });
});

describe('the versions that nerdctl reports', () => {
  it('are read from its own line, and from what it says about containerd', () => {
    expect(parseVersion('nerdctl version 2.1.2\n')).toEqual([2, 1]);
    expect(parseVersion('6.1.0-18-amd64')).toEqual([6, 1]);
    const output =
      '{"Client":{"Version":"v2.1.2"},"Server":{"Components":[{"Name":"containerd","Version":"2.1.4+unknown",' +
      '"Details":{}},{"Name":"runc","Version":"1.3.3","Details":{}}]}}';
    expect(parseContainerdVersion(output)).toEqual([2, 1]);
  });

  it('say that containerd is silent if nerdctl names no such component', () => {
    expect(parseContainerdVersion('{"Client":{}}')).toBe('silent');
    expect(parseContainerdVersion('not JSON')).toBe('silent');
  });
});
