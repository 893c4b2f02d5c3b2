import { isDomainError } from '@berth/kernel';
import pLimit from 'p-limit';

/**
 * Creations, and deletions, of one process at a time. More would only make each other, and all other work, wait for a
 * connection to the database until their time is up.
 */
const AT_A_TIME = 8;
/** During an outage, a failing turn takes almost all the time that a caller has, so a caller that waited longer fails with it. */
const PATIENCE_MS = 100;

const isOutage = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && error.code === 'service_unavailable';

/**
 * Runs work a few at a time; the rest waits for its turn. When work fails with `service_unavailable`, what has waited for
 * more than `PATIENCE_MS` fails with the same error, unless other work succeeded in that time: then the failed part is one
 * that not all work needs.
 */
export const inTurns = (
  now: () => number = () => performance.now(),
): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  const limit = pLimit(AT_A_TIME);
  let succeededAt = -Infinity;
  let outage: { readonly error: unknown; readonly at: number; readonly after: number } | undefined;
  return (work) => {
    const since = now();
    return limit(async () => {
      if (outage !== undefined && outage.at - Math.max(since, outage.after) > PATIENCE_MS) throw outage.error;
      try {
        const result = await work();
        succeededAt = now();
        return result;
      } catch (error) {
        if (isOutage(error)) outage = { error, at: now(), after: succeededAt };
        throw error;
      }
    });
  };
};
