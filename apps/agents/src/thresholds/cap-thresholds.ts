import type { Decider } from '@berth/kernel';

/** The percentages of a cap that are recorded. */
const THRESHOLDS = [50, 80, 100] as const;

/** The agents of an end user have used so much of a cap; once for each period and threshold. */
export interface CapThresholdReached {
  readonly type: 'CapThresholdReached';
  readonly endUserId: string;
  readonly cap: 'compute_minutes_cap';
  /** The first day of the month in UTC: `2026-11-01`. */
  readonly period: string;
  readonly percent: number;
  /** ISO 8601. */
  readonly at: string;
}

/** What is used of a cap in a period. */
export type RecordUse = Omit<CapThresholdReached, 'type'>;

/** The highest threshold that was recorded in the period; 0 before the first one. */
export type RecordedThreshold = number;

/** The highest threshold that so many percent have reached; 0 if none. */
export const reachedBy = (percent: number): RecordedThreshold =>
  Math.max(0, ...THRESHOLDS.filter((threshold) => threshold <= percent));

/** A stream is one cap of one end user in one period. A cap that is changed in between has each threshold only once. */
export const capThresholdsDecider: Decider<RecordedThreshold, RecordUse, CapThresholdReached> = {
  initial: 0,
  decide: ({ percent: used, ...use }, recorded) =>
    THRESHOLDS.filter((percent) => percent > recorded && percent <= used).map((percent) => ({
      type: 'CapThresholdReached',
      ...use,
      percent,
    })),
  evolve: (recorded, { percent }) => Math.max(recorded, percent),
};
