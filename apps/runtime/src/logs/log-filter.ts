import { LOG_LEVELS, type LogEntry, type ReadLogs } from '@berth/contracts/runtime';

/** Filter for the requested entries. */
export const logFilter = ({ level, since, source }: Pick<ReadLogs, 'level' | 'since' | 'source'>) => {
  const least = level === null ? 0 : LOG_LEVELS.indexOf(level);
  const from = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  return {
    wants: (entry: LogEntry): boolean =>
      LOG_LEVELS.indexOf(entry.level) >= least &&
      (source === null || entry.source === source) &&
      (from === Number.NEGATIVE_INFINITY || Date.parse(entry.timestamp) >= from),
    /** Whether all older entries are out of range. Leaves a margin because the clock may have been set. */
    isPast: (entry: LogEntry): boolean => Date.parse(entry.timestamp) < from - 60_000,
  };
};
