import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { release } from 'node:os';
import { join } from 'node:path';
import { cgroupMounts } from './cgroup-mounts.js';
import { findProgram } from './find-program.js';
import { PROGRAMS, type HostFacts } from './host-checks.plan.js';
import type { HostMeans } from './host-means.js';
import { parseContainerdVersion, parseVersion } from './nerdctl-versions.js';
import { runtimeClassOf } from './runtime-class.js';
import { readSubordinateIds } from './subordinate-ids.js';

/** The check as a whole may take 5 s. */
const ASKED_WITHIN_MS = 3_000;
const PLUGINS = ['bridge', 'host-local', 'loopback', 'firewall'];
/** Where nerdctl looks for containerd's socket by default. */
export const DEFAULT_ADDRESS = '/run/containerd/containerd.sock';
const CNI_FOLDERS: readonly string[] = [
  '/opt/cni/bin',
  '/usr/local/libexec/cni',
  '/usr/libexec/cni',
  '/usr/lib/cni',
];

/** Asks this host within 5 s; starts and changes nothing. */
export const readHostFacts = async (means: HostMeans): Promise<HostFacts> => {
  const address = means.address ?? DEFAULT_ADDRESS;
  const [client, server, runc, isListening, ids, mounts, network] = await Promise.all([
    run(means.nerdctl, ['--version']),
    run(means.nerdctl, [...addressOption(means), 'version', '--format={{json .}}']),
    run('runc', ['--version']),
    isListened(address),
    readSubordinateIds(means.subidUser),
    readFile('/proc/mounts', 'utf8').catch(() => ''),
    run('unshare', ['--net', '--', 'sh', '-c', TRY_NETWORK]),
  ]);
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    kernel: parseVersion(release()),
    nerdctl: client.missing ? 'missing' : parseVersion(client.output),
    // Only nerdctl can ask for its version.
    containerd: client.missing && isListening ? 'unknown' : parseContainerdVersion(server.output),
    runc: runc.missing ? 'missing' : parseVersion(runc.output),
    address,
    subidUser: means.subidUser,
    runtimeClass: means.runtimeClass,
    missingShim: missingShim(means),
    hasSubordinateIds: ids !== undefined,
    hasFreezer: canFreeze(mounts),
    missingPlugins: PLUGINS.filter((name) => findCniPlugin(name, means.cniPath) === undefined),
    missingPrograms: PROGRAMS.filter((name) => findProgram(name, means.path) === undefined),
    hasLoopDevices: existsSync('/dev/loop-control'),
    missingNetwork: missingNetwork(network.output),
  };
};

/** Creates what agents need in a network namespace that ends with the shell, and says how far it came. */
const TRY_NETWORK =
  'PATH=$PATH:/usr/sbin:/sbin; ip link add name a type veth peer name b && ip link add name c type bridge && echo links; ' +
  'nft add table inet t && nft "add chain inet t in { type filter hook prerouting priority -310; }" && ' +
  'nft "add chain inet t out { type nat hook postrouting priority 90; }" && ' +
  'nft add rule inet t in fib saddr . iif oif 0 drop && nft add rule inet t in reject with tcp reset && ' +
  'nft add rule inet t out ct state new masquerade && echo rules';

const missingNetwork = (output: string): HostFacts['missingNetwork'] =>
  (['links', 'rules'] as const).filter((part) => !output.split('\n').includes(part));

/** runc is checked by its version. */
const missingShim = ({ runtimeClass, path }: HostMeans): HostFacts['missingShim'] => {
  const { shim } = runtimeClassOf(runtimeClass);
  if (runtimeClass === 'runc' || findProgram(shim, path) !== undefined) return null;
  return shim;
};

/** The path of a CNI plugin in the folder that the operator names, else in the usual ones. */
export const findCniPlugin = (name: string, cniPath: string | undefined): string | undefined =>
  (cniPath === undefined ? CNI_FOLDERS : [cniPath])
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

const addressOption = ({ address }: HostMeans): readonly string[] =>
  address === undefined ? [] : [`--address=${address}`];

const isListened = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = connect(socket, () => resolve(true));
    connection.once('error', () => resolve(false)).once('connect', () => connection.destroy());
  });

const canFreeze = (mounts: string): boolean =>
  cgroupMounts(mounts).some(({ version, controllers }) => version === 2 || controllers.includes('freezer'));

/** A folder of the PATH that this user cannot read hides which of the two it is. */
const NOT_RUNNABLE = new Set<unknown>(['ENOENT', 'EACCES']);

const run = (
  program: string,
  args: readonly string[],
): Promise<{ readonly output: string; readonly missing: boolean }> =>
  new Promise((resolve) => {
    const options = { timeout: ASKED_WITHIN_MS, killSignal: 'SIGKILL' } as const;
    execFile(program, args, options, (error, output) =>
      resolve({ output, missing: NOT_RUNNABLE.has(error?.code ?? 0) }),
    );
  });
