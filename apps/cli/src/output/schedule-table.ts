import type { ScheduleView } from '@berth/contracts/schedules';
import { formatTable } from './table.js';

/** One line for each entry. */
export const scheduleTable = (schedules: readonly ScheduleView[]): string =>
  formatTable(
    ['ID', 'WHEN', 'NEXT WAKE', 'LAST RUN', 'LAST ERROR', 'SOURCE'],
    schedules.map(({ id, cron, tz, nextRunAt, nextWakeAt, lastRunAt, lastError, source }) => [
      id,
      [nextRunAt, cron, tz].filter((part) => part !== null).join(' '),
      nextWakeAt ?? '-',
      lastRunAt ?? '-',
      lastError?.code ?? '-',
      source,
    ]),
  );
