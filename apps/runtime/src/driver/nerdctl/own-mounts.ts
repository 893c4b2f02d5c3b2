import { readFile } from 'node:fs/promises';
import { DriverError } from '../driver-error.js';
import { mountPointsBelow } from './mount-points.js';
import { INSIDE } from './paths-inside.js';

/** The mount points at and below Berth's own folder of a container that is created with that command line. */
export const ownMountPoints = (args: readonly string[]): readonly string[] => {
  const points = args.flatMap((arg) => /^--volume=[^:]*:([^:]*):/.exec(arg)?.[1] ?? []);
  return points.filter((point) => point === INSIDE.all || point.startsWith(`${INSIDE.all}/`));
};

/**
 * Checks that exactly this is mounted there. The container runtime follows symbolic links of the image, so an image could
 * have the agent's volume mounted over what the guest trusts, or that into the volume. `pid`: of the guest. Errors:
 * `spec_unsupported`.
 */
export const assertOwnMounts = async (pid: number, wanted: readonly string[]): Promise<void> => {
  const found = mountPointsBelow(await readFile(`/proc/${pid}/mountinfo`, 'utf8'), INSIDE.all).toSorted();
  const expected = wanted.toSorted();
  if (found.join('\n') === expected.join('\n')) return;
  throw new DriverError(
    'spec_unsupported',
    `The image has a symbolic link that leads to ${INSIDE.all}, which belongs to Berth.`,
    { cause: new Error(`mounted: ${found.join(' ')}; wanted: ${expected.join(' ')}`) },
  );
};
