import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorSettings } from './doctor-settings.js';
import { failed, ok, warning, type DoctorCheck } from './doctor-check.js';
import { freeSpaceCheck } from './machine.plan.js';

const OTHERS = 0o077;

/** Owner, mode and free space of the folders that Berth writes to; creates none. */
export const folderChecks = async ({ folders }: DoctorSettings): Promise<readonly DoctorCheck[]> =>
  (await Promise.all(folders.map(checksOf))).flat();

const checksOf = async ({
  variable,
  path,
}: DoctorSettings['folders'][number]): Promise<readonly DoctorCheck[]> => {
  const nearest = await nearestFolder(path);
  if (nearest === undefined)
    return [failed(variable, `${path} cannot be entered: set ${variable} to a folder of this user.`)];
  const { bavail, bsize } = await statfs(nearest);
  return [await accessCheck(variable, path, nearest), freeSpaceCheck(`${variable} disk`, bavail * bsize)];
};

const accessCheck = async (variable: string, path: string, nearest: string): Promise<DoctorCheck> => {
  const writable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (nearest !== path) {
    return writable
      ? ok(variable, `${path} does not exist yet; the first start creates it`)
      : failed(
          variable,
          `${path} does not exist, and this user may not create it in ${nearest}: create it with this user as owner.`,
        );
  }
  const { uid, mode } = await stat(path);
  const own = process.getuid?.() ?? uid;
  if (!writable || uid !== own)
    return failed(
      variable,
      `${path} belongs to user ${uid}, and this is user ${own}: run Berth as its owner, or set ${variable}.`,
    );
  const bits = (mode & 0o777).toString(8).padStart(4, '0');
  return (mode & OTHERS) === 0
    ? ok(variable, `${path}, mode ${bits}, user ${uid}`)
    : warning(variable, `${path} has mode ${bits}, so others can enter it: run "chmod 700 ${path}".`);
};

/** The folder itself or the nearest one above it that exists; undefined if there is a file in its place. */
const nearestFolder = async (path: string): Promise<string | undefined> => {
  try {
    return (await stat(path)).isDirectory() ? path : undefined;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing && dirname(path) !== path ? nearestFolder(dirname(path)) : undefined;
  }
};
