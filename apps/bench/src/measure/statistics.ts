/** The result of one round. Times in milliseconds, null where single times are meaningless. */
export interface Summary {
  readonly count: number;
  readonly perSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** The median ratio of all rounds, and the extremes. */
export interface Ratio {
  readonly middle: number;
  readonly least: number;
  readonly most: number;
}

/** The smallest value with at least `share` (0 to 1) of all values less than or equal to it (nearest rank). */
export const percentile = (values: readonly number[], share: number): number => {
  if (values.length === 0) throw new RangeError('A percentile needs at least one value.');
  const sorted = Float64Array.from(values).sort();
  const rank = Math.min(Math.max(Math.ceil(share * sorted.length), 1), sorted.length);
  return sorted[rank - 1] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Rate and percentiles of single times (ms) measured within `elapsedMs`. */
export const summarize = (timesMs: readonly number[], elapsedMs: number): Summary => ({
  count: timesMs.length,
  perSecond: rate(timesMs.length, elapsedMs),
  p50: median(timesMs),
  p99: percentile(timesMs, 0.99),
});

/** The rate of things that are not timed one by one. */
export const summarizeBulk = (count: number, elapsedMs: number): Summary => ({
  count,
  perSecond: rate(count, elapsedMs),
  p50: null,
  p99: null,
});

const rate = (count: number, elapsedMs: number): number => {
  if (count === 0 || elapsedMs <= 0) throw new RangeError('A rate needs a count and a duration above 0.');
  return (count * 1000) / elapsedMs;
};

/** What is compared: a rate (more is better) or a time (less is better). */
export type Measure = 'rate' | 'time';

const valueOf = (measure: Measure, summary: Summary): number =>
  measure === 'rate' ? summary.perSecond : (summary.p50 ?? 1000 / summary.perSecond);

/**
 * Ours divided by the limit, round by round: other load on the machine in a round affects both sides. A single
 * disturbed round does not move the median.
 */
export const ratioOf = (measure: Measure, ours: readonly Summary[], limit: readonly Summary[]): Ratio => {
  if (ours.length === 0 || ours.length !== limit.length)
    throw new RangeError('Both sides need the same number of rounds.');
  const ratios = ours.map((round, index) => {
    const other = limit[index];
    return other === undefined ? Number.NaN : valueOf(measure, round) / valueOf(measure, other);
  });
  return { middle: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
};

/** The median round as a whole: its rate and its percentiles belong together. */
export const middleRound = (measure: Measure, rounds: readonly Summary[]): Summary => {
  const sorted = [...rounds].sort((a, b) => valueOf(measure, a) - valueOf(measure, b));
  const middle = sorted[Math.ceil(sorted.length / 2) - 1];
  if (middle === undefined) throw new RangeError('A median needs at least one round.');
  return middle;
};
