import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';

/** Distinguishes the installations of a host; `dataDir` is the runtime's data folder, which exists. */
export const instanceOf = async (dataDir: string): Promise<string> =>
  createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 12);

/** The containerd namespace, the control group and the firewall table of everything of an installation. */
export const namespaceOf = (instance: string): string => `berth-${instance}`;
