import { weightsOf, type TermsPeriod } from '../pricing/terms.js';
import type { Span } from './box-meter.js';
import { METER_SUMS, sumsOf, type MeteredKind } from './metered-kind.js';
import { DAY_MS, dayOf } from './utc-day.js';

/**
 * What a box used on one day (UTC), as sums that later ones are added to: `vcpu` in milliseconds × millionths of a CPU,
 * `mem` × MiB, `disk` × GiB, `metered` in `METERED_PARTS` of a millionth of a cent, and those of `MeteredKind.uses`, where
 * money is in millionths of a cent.
 */
export type DayUse = Record<(typeof METER_SUMS)[number], bigint> & Record<string, bigint>;

export const noUse = (kind: Pick<MeteredKind, 'uses'>): DayUse =>
  Object.fromEntries(sumsOf(kind).map((sum) => [sum, 0n])) as DayUse;

/** The parts of a span that each lie in one day. */
export const byDay = ({ from, to }: Pick<Span, 'from' | 'to'>): readonly DayPart[] => {
  const parts: DayPart[] = [];
  for (let start = from; start < to;) {
    const day = dayOf(start);
    const end = Math.min(to, (day + 1) * DAY_MS);
    parts.push({ day, from: start, to: end });
    start = end;
  }
  return parts;
};

interface DayPart {
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

/** Adds a span, which lies in the day, with its price in the periods. */
export const addSpan = (use: DayUse, span: Span, periods: readonly TermsPeriod[]): void => {
  const { kind, from, to, sizes } = span;
  const millis = BigInt(to - from);
  if (kind === 'active') {
    use.active_ms += millis;
    use.vcpu += millis * BigInt(sizes.vcpuMicros);
    use.mem += millis * BigInt(sizes.memMb);
  } else {
    use.disk += millis * BigInt(sizes.diskGb);
  }
  for (const period of periods) use.metered += meteredIn(span, period);
};

/** Adds what a box was used for. */
export const addAmounts = (use: DayUse, amounts: Readonly<Record<string, bigint>>): void => {
  for (const [sum, amount] of Object.entries(amounts)) use[sum] = (use[sum] ?? 0n) + amount;
};

const meteredIn = ({ kind, from, to, sizes }: Span, period: TermsPeriod): bigint => {
  const millis = Math.min(to, period.to) - Math.max(from, period.from);
  if (millis <= 0) return 0n;
  const { vcpu, mem, disk } = weightsOf(period.plan);
  const each =
    kind === 'active'
      ? BigInt(sizes.vcpuMicros) * vcpu + BigInt(sizes.memMb) * mem
      : BigInt(sizes.diskGb) * disk;
  return BigInt(millis) * each;
};
