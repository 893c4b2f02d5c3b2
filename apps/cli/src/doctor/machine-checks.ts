import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { cgroupMounts, hardLimitOfFiles } from '@berth/host-requirements';
import { ok, type DoctorCheck } from './doctor-check.js';
import { cgroupCheck, clockCheck, memoryCheck, nodeCheck, openFilesCheck } from './machine.plan.js';
import { runProgram } from './run-program.js';

const USER_REMEDY = 'raise "nofile" in /etc/security/limits.conf';

/** What every driver needs of the machine. */
export const machineChecks = async (): Promise<readonly DoctorCheck[]> => {
  const [memory, mounts, limits, synchronized] = await Promise.all([
    read('/proc/meminfo'),
    read('/proc/mounts'),
    read('/proc/self/limits'),
    isSynchronized(),
  ]);
  const groups = cgroupMounts(mounts);
  return [
    nodeCheck(process.versions.node),
    ok('kernel', `${process.platform} ${release()}`),
    memoryCheck(memory),
    cgroupCheck(groups, await delegatedTo(groups.find(({ version }) => version === 2)?.path)),
    openFilesCheck('open files', 'this user', hardLimitOfFiles(limits), USER_REMEDY),
    clockCheck(synchronized),
  ];
};

/** The controllers that the control group of this process has in version 2. */
const delegatedTo = async (root: string | undefined): Promise<readonly string[]> => {
  if (root === undefined) return [];
  const own = /^0::(.*)$/m.exec(await read('/proc/self/cgroup'))?.[1] ?? '/';
  const controllers = await read(join(root, own, 'cgroup.controllers'));
  return controllers.trim().split(/\s+/).filter(Boolean);
};

const isSynchronized = async (): Promise<boolean | undefined> => {
  const systemd = await runProgram('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  if (!systemd.failed) return systemd.output.trim() === 'yes';
  const chrony = await runProgram('chronyc', ['tracking']);
  return chrony.failed ? undefined : /^Leap status\s*:\s*Normal/m.test(chrony.output);
};

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
