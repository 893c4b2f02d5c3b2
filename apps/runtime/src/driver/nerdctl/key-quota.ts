import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@berth/telemetry';

const KERNEL_SETTINGS = '/proc/sys/kernel/keys';

/** runc gives each container a session keyring of about 100 bytes. */
const NEEDED = { maxkeys: 100_000, maxbytes: 10_000_000 } as const;

/**
 * Raises the kernel's quota of keys where it is lower than a host needs. All agents are the same users outside of their
 * user namespace, and the kernel's default of 200 keys for a user ends the start of the 200th container.
 */
export const raiseKeyQuota = async (
  log: Pick<Logger, 'warn'>,
  settings: string = KERNEL_SETTINGS,
): Promise<void> => {
  for (const [name, needed] of Object.entries(NEEDED)) {
    const file = join(settings, name);
    try {
      if (Number(await readFile(file, 'utf8')) < needed) await writeFile(file, String(needed));
    } catch (error) {
      log.warn(
        { err: error, file, needed },
        'could not raise a quota that limits how many agents can be awake',
      );
    }
  }
};
