import { join } from 'node:path';
import {
  findCniPlugin,
  findProgram,
  hostChecks,
  openFilesOfContainerd,
  readHostFacts,
  type HostCheck,
  type HostMeans,
} from '@berth/host-requirements';
import { failed, ok, warning, type DoctorCheck } from './doctor-check.js';
import { openFilesCheck } from './machine.plan.js';
import { runProgram } from './run-program.js';

const CONTAINERD_REMEDY = 'set LimitNOFILE=infinity in its systemd unit';

/** What the nerdctl driver needs, as the runtime checks it at its start, and what lets agents do less if it is missing. */
export const containerChecks = async (means: HostMeans): Promise<readonly DoctorCheck[]> => {
  const [checks, versions, openFiles, buildKit] = await Promise.all([
    readHostFacts(means).then(hostChecks),
    versionsOf(means),
    openFilesOfContainerd(),
    buildKitCheck(means),
  ]);
  return [
    ...checks.map((check) => toDoctorCheck(check, versions.get(check.name) ?? '')),
    openFilesCheck('open files of agents', 'containerd', openFiles, CONTAINERD_REMEDY),
    buildKit,
  ];
};

const toDoctorCheck = ({ name, found, problems }: HostCheck, version: string): DoctorCheck =>
  problems.length === 0
    ? ok(name, [found, version].filter(Boolean).join(', ') || 'there')
    : failed(name, problems.join(' '));

/** Versions that the operator wants to know and no check needs, by the name of the check. */
const versionsOf = async ({ path, cniPath }: HostMeans): Promise<ReadonlyMap<string, string>> => {
  const bridge = findCniPlugin('bridge', cniPath);
  const found = await Promise.all([
    versionIn('nft', findProgram('nft', path), ['--version']),
    versionIn('mkfs.ext4', findProgram('mkfs.ext4', path), ['-V']),
    bridge === undefined ? undefined : cniVersion(bridge),
  ]);
  return new Map(found.flatMap((one) => (one === undefined ? [] : [one])));
};

const versionIn = async (
  name: string,
  program: string | undefined,
  args: readonly string[],
): Promise<readonly [string, string] | undefined> => {
  if (program === undefined) return undefined;
  const version = /\d+\.\d+(\.\d+)?/.exec((await runProgram(program, args)).output)?.[0];
  return version === undefined ? undefined : [name, version];
};

/** A CNI plugin says which versions of the specification it supports. */
const cniVersion = async (plugin: string): Promise<readonly [string, string]> => {
  const { output } = await runProgram(plugin, [], { CNI_COMMAND: 'VERSION' });
  const newest = /"cniVersion":\s*"([\d.]+)"/.exec(output)?.[1] ?? 'unknown';
  return ['CNI plugins', `CNI ${newest} in ${join(plugin, '..')}`];
};

const buildKitCheck = async ({ path }: HostMeans): Promise<DoctorCheck> => {
  const program = findProgram('buildkitd', path);
  const found = await versionIn('BuildKit', program, ['--version']);
  return found === undefined
    ? warning(
        'BuildKit',
        'buildkitd is missing, so repositories with a Dockerfile cannot be deployed: unpack the nerdctl-full archive into /usr/local.',
      )
    : ok('BuildKit', found[1]);
};
