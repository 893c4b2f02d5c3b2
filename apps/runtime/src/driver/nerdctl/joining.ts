import type { RunAs } from '../driver.js';
import { INSIDE, LOADER } from './paths-inside.js';

type Launcher = NonNullable<RunAs['launcher']>;

/**
 * The user whose every process first moves into the groups of these files, which `AgentGroups.complete` returns. A
 * process that cannot is not started: it would have no limits.
 */
export const joining = (user: RunAs, files: readonly string[]): RunAs => {
  const { launcher } = user;
  if (launcher === undefined || files.length === 0) return user;
  const script = [...files.map((file) => `echo 0 > ${file} || exit 125`), 'exec "$@"'].join('; ');
  const shell: Launcher = [
    `${INSIDE.kit}/lib/${LOADER}`,
    '--library-path',
    `${INSIDE.kit}/lib`,
    `${INSIDE.kit}/own/sh`,
  ];
  return { ...user, launcher: [...shell, '-c', script, 'sh', ...launcher] };
};
