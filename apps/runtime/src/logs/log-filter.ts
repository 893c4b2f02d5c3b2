import { LOG_LEVELS, type LogEntry, type ReadLogs } from '@berth/contracts-runtime';

/** Which entries a reader wants. */
export const logFilter = ({ level, since, source }: Pick<ReadLogs, 'level' | 'since' | 'source'>) => {
  const least = level === null ? 0 : LOG_LEVELS.indexOf(level);
  const from = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  return {
    wants: (entry: LogEntry): boolean =>
      LOG_LEVELS.indexOf(entry.level) >= least &&
      (source === null || entry.source === source) &&
      (from === Number.NEGATIVE_INFINITY || Date.parse(entry.timestamp) >= from),
    /** Whether nothing older than this entry can be wanted; clocks may have been set, so with room to spare. */
    isPast: (entry: LogEntry): boolean => Date.parse(entry.timestamp) < from - 60_000,
  };
};
