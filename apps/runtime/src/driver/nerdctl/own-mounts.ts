import { readFile } from 'node:fs/promises';
import { DriverError } from '../driver-error.js';
import { mountPointsBelow } from './mount-points.js';
import { INSIDE } from './paths-inside.js';

/** The mount points at and below Berth's own folder of a container that is created with that command line. */
export const ownMountPoints = (args: readonly string[]): readonly string[] =>
  args
    .flatMap((arg) => /^--volume=[^:]*:([^:]*):/.exec(arg)?.[1] ?? [])
    .filter((point) => point === INSIDE.all || point.startsWith(`${INSIDE.all}/`));

/**
 * Checks that exactly this is mounted there. The container runtime follows symbolic links of the image, so an image could
 * have the agent's volume mounted over what the guest trusts, or that into the volume. `pid`: of the guest. Errors:
 * `spec_unsupported`.
 */
export const assertOwnMounts = async (pid: number, wanted: readonly string[]): Promise<void> => {
  const found = mountPointsBelow(await readFile(`/proc/${pid}/mountinfo`, 'utf8'), INSIDE.all);
  if (found.toSorted().join('\n') !== wanted.toSorted().join('\n'))
    throw new DriverError(
      'spec_unsupported',
      `The image has a symbolic link that leads to ${INSIDE.all}, which belongs to Berth.`,
    );
};
