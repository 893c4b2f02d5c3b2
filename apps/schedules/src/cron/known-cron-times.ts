import { CronTimes } from './cron-times.js';
import { Zone } from './zone.js';

export const DEFAULT_ZONE = 'UTC';

const MAX_KNOWN = 10_000;
const known = new Map<string, CronTimes>();

/** The times of a cron expression that was validated when it was published. Throws if it is not valid. */
export const cronTimesOf = (cron: string, tz: string | null): CronTimes => {
  const key = JSON.stringify([cron, tz]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const zone = Zone.named(tz ?? DEFAULT_ZONE);
  if (zone === undefined) throw new Error(`There is no time zone ${String(tz)}.`);
  const times = CronTimes.parse(cron, zone);
  if ('problem' in times) throw new Error(`The cron expression ${cron} ${times.problem}.`);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, times);
  return times;
};
