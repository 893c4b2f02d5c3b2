import { readFileSync } from 'node:fs';

/** Used when the limit cannot be read: the lowest common default. */
const ASSUMED_LIMIT = 1_024;

const OPEN_FILES = /^Max open files\s+(\d+|unlimited)/m;

/** A share of the descriptors that a process may open, and the most connections for any number of descriptors. */
export interface ConnectionShare {
  readonly share: number;
  readonly most: number;
}

/**
 * The connections of each server. All servers may be in one process, where one call through the gateway has up to four
 * descriptors; `FairShares` gives one account half of the gateway's connections. So that one account leaves descriptors
 * for others, and connections of every server: the gateway has 0.3, the servers behind it have more than the half of
 * that, and the half four times is less than 1.
 */
export const CONNECTIONS = {
  gateway: { share: 0.3, most: 10_000 },
  dataPort: { share: 0.16, most: 5_000 },
  agentApi: { share: 0.18, most: 5_500 },
  llm: { share: 0.06, most: 8_000 },
} as const satisfies Readonly<Record<string, ConnectionShare>>;

/** Returns how many connections a server may hold, so that its process keeps descriptors for everything else. */
export const shareOfDescriptors = ({ share, most }: ConnectionShare): number =>
  Math.max(1, Math.min(most, Math.floor(descriptorLimit() * share)));

const descriptorLimit = (): number => {
  try {
    const limit = OPEN_FILES.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (limit === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return limit === undefined ? ASSUMED_LIMIT : Number(limit);
  } catch {
    return ASSUMED_LIMIT;
  }
};
