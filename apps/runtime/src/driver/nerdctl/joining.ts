import type { RunAs } from '../driver.js';
import { JOIN } from './paths-inside.js';

/**
 * The user whose every process first moves into the groups of these files, which `AgentGroups.complete` returns. A
 * process that cannot is not started: it would have no limits.
 */
export const joining = (user: RunAs, files: readonly string[]): RunAs => {
  if (files.length === 0) return user;
  if (user.launcher === undefined) throw new Error('A user in a container needs a launcher.');
  return { ...user, launcher: [JOIN, ...files, '--', ...user.launcher] };
};
