import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@berth/telemetry';

const KERNEL_SETTINGS = '/proc/sys';

/** What the agents of a host need together. */
const NEEDED = {
  // runc gives each container a session keyring of about 100 bytes. The kernel's default ends the start of the 200th.
  'kernel/keys/maxkeys': 100_000,
  'kernel/keys/maxbytes': 10_000_000,
  // Each agent has a limit of its own (`limitInotify`). The kernel's default is what one agent may use up.
  'fs/inotify/max_user_instances': 1_048_576,
  'fs/inotify/max_user_watches': 1_073_741_824,
  // The kernel counts by the user outside, which the agents have in common. What they watch is part of their memory.
  'fs/epoll/max_user_watches': 1_073_741_824,
} as const;

/**
 * Raises the kernel's limits of a user where they are lower than a host needs: outside of their user namespaces, all agents
 * are the same users, and what they watch counts as what root of the host watches.
 */
export const raiseHostLimits = async (
  log: Pick<Logger, 'warn'>,
  settings: string = KERNEL_SETTINGS,
): Promise<void> => {
  for (const [name, needed] of Object.entries(NEEDED)) {
    const file = join(settings, name);
    try {
      if (Number(await readFile(file, 'utf8')) < needed) await writeFile(file, String(needed));
    } catch (error) {
      log.warn({ err: error, file, needed }, 'could not raise a limit that all agents of this host share');
    }
  }
};
