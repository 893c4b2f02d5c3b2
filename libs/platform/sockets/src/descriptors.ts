import { readFileSync } from 'node:fs';

/** Used when the limit cannot be read: the lowest common default. */
const ASSUMED_LIMIT = 1_024;

const OPEN_FILES = /^Max open files\s+(\d+|unlimited)/m;

/**
 * Returns how many connections a server may hold so that the process keeps descriptors for files, databases and
 * brokers: a share of its limit, at most `most`.
 */
export const shareOfDescriptors = (share: number, most: number): number =>
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
