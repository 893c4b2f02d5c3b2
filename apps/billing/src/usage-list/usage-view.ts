import type { DailyUsageRow, UsageFigures, UsageRow, UsageTotals } from '@berth/contracts/billing';
import { dateOf } from '../meter/utc-day.js';
import { centsOf, type MoneySums } from './usage-money.js';

/** Sums as the database returns them: text of whole numbers. */
interface Sums extends MoneySums {
  readonly active_ms: string;
  readonly wakes: string;
  readonly chats: string;
  readonly executions: string;
  readonly llm_requests: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
}

/** A row of the page; without an agent if the page is empty. */
export interface PageRow extends Sums {
  readonly agent_id: string | null;
  readonly day: string;
  readonly seat: string | number;
  readonly name: string | null;
  readonly external_id: string | null;
  readonly external_user_id: string | null;
  readonly vcpu: string;
  readonly mem: string;
  readonly disk: string;
}

export type TotalsRow = { readonly [Name in keyof Sums as `all_${Name}`]: string } & {
  /** Hosting of the days with a seat plan. */
  readonly all_shared: string;
};

/** A figure is `value * times / by` in units of its last decimal, in lowest terms. */
interface Unit {
  readonly times: number;
  readonly by: number;
  readonly digits: number;
}

const SECONDS: Unit = { times: 1, by: 1, digits: 3 };
const MINUTES: Unit = { times: 50, by: 3, digits: 6 };
const VCPU_SECONDS: Unit = { times: 1, by: 1_000, digits: 6 };
const MEM_GB_SECONDS: Unit = { times: 125, by: 128, digits: 6 };

/** Rounded half up, as the nearest JSON number. */
const figure = (value: string, { times, by, digits }: Unit): number => {
  const doubled = 2 * times * Number(value) + by;
  // The quotient of two whole numbers below 2^53 never rounds up to a whole number, and is much faster than that of BigInts.
  if (doubled <= Number.MAX_SAFE_INTEGER) return Math.floor(doubled / (2 * by)) / 10 ** digits;
  const rounded = (2n * BigInt(times) * BigInt(value) + BigInt(by)) / (2n * BigInt(by));
  const text = rounded.toString().padStart(digits + 1, '0');
  return Number(`${text.slice(0, -digits)}.${text.slice(-digits)}`);
};

const figuresOf = (sums: Sums): UsageFigures => ({
  activeSeconds: figure(sums.active_ms, SECONDS),
  wakes: Number(sums.wakes),
  chats: Number(sums.chats),
  executions: Number(sums.executions),
  llm: {
    requests: Number(sums.llm_requests),
    inputTokens: Number(sums.input_tokens),
    outputTokens: Number(sums.output_tokens),
  },
  ...centsOf(sums),
});

export const usageRow = (row: PageRow): UsageRow => {
  const { activeSeconds, ...figures } = figuresOf(row);
  return {
    agentId: row.agent_id ?? '',
    agentName: row.name,
    externalId: row.external_id,
    externalUserId: row.external_user_id,
    hostingBasis: Number(row.seat) === 1 ? 'allocated' : 'metered',
    activeSeconds,
    computeMinutes: figure(row.active_ms, MINUTES),
    vcpuSeconds: figure(row.vcpu, VCPU_SECONDS),
    memGbSeconds: figure(row.mem, MEM_GB_SECONDS),
    diskGbSeconds: figure(row.disk, SECONDS),
    ...figures,
  };
};

export const dailyUsageRow = (row: PageRow): DailyUsageRow => ({
  date: dateOf(Number(row.day)),
  ...usageRow(row),
});

export const totalsOf = (row: TotalsRow): Omit<UsageTotals, 'unallocatedCents'> =>
  figuresOf({
    active_ms: row.all_active_ms,
    wakes: row.all_wakes,
    chats: row.all_chats,
    executions: row.all_executions,
    llm_requests: row.all_llm_requests,
    input_tokens: row.all_input_tokens,
    output_tokens: row.all_output_tokens,
    hosting: row.all_hosting,
    ai: row.all_ai,
  });
