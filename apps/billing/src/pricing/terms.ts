import type { Plan } from './pricing.js';

/** The prices of an account from `since` (Unix milliseconds) on. Prices in millionths of a cent. */
export interface Terms {
  readonly since: number;
  readonly plan: Plan;
}

/** The plan of an account before any price was read: hosting costs nothing. */
export const freePlan = (id: string): Plan => ({
  id,
  hosting: { kind: 'metered', vcpuHour: 0n, memGbHour: 0n, diskGbMonth: 0n },
});

const HOUR_MS = 3_600_000n;
/** A common multiple of 1,000,000 (CPUs), 1,024 (MiB) and 730 (hours of a month). */
const COMMON = 1_168_000_000n;

/** Metered hosting is summed up in this fraction of a millionth of a cent, which makes every amount a whole number. */
export const METERED_PARTS = HOUR_MS * COMMON;

/** Parts for each millisecond of a millionth of a CPU, of a MiB and of a GiB of disk. */
export interface Weights {
  readonly vcpu: bigint;
  readonly mem: bigint;
  readonly disk: bigint;
}

export const weightsOf = ({ hosting }: Plan): Weights =>
  hosting.kind === 'seat'
    ? { vcpu: 0n, mem: 0n, disk: 0n }
    : {
        vcpu: hosting.vcpuHour * (COMMON / 1_000_000n),
        mem: hosting.memGbHour * (COMMON / 1_024n),
        disk: hosting.diskGbMonth * (COMMON / 730n),
      };

export interface TermsPeriod {
  readonly plan: Plan;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** `terms` in order of time. */
export const periodsOf = (terms: readonly Terms[]): readonly TermsPeriod[] =>
  terms.map(({ plan, since }, index) => ({ plan, from: since, to: terms[index + 1]?.since ?? Infinity }));
