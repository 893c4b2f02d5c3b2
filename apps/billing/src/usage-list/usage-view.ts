import type {
  ComputerUsageFigures,
  ComputerUsageRow,
  DailyUsageRow,
  HostingBasis,
  UsageFigures,
  UsageRow,
  UsageTotals,
} from '@berth/contracts/billing';
import { dateOf } from '../meter/utc-day.js';
import { centsOf, hostingCentsOf, type MoneySums } from './usage-money.js';

/** Sums as the database returns them: text of whole numbers. */
interface MeterSums {
  readonly active_ms: string;
  readonly wakes: string;
  readonly hosting: string;
}

interface AgentSums extends MeterSums, MoneySums {
  readonly chats: string;
  readonly executions: string;
  readonly llm_requests: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
}

interface ComputerSums extends MeterSums {
  readonly actions: string;
  readonly screenshots: string;
  readonly executions: string;
}

/** A row of the page; without a box if the page is empty. */
export interface BoxRow extends MeterSums {
  readonly box_id: string | null;
  readonly day: string;
  readonly seat: string | number;
  readonly name: string | null;
  readonly external_user_id: string | null;
  readonly vcpu: string;
  readonly mem: string;
  readonly disk: string;
}

/** A row of an agent. */
export interface PageRow extends BoxRow, AgentSums {
  readonly external_id: string | null;
}

/** A row of a computer. */
export interface ComputerPageRow extends BoxRow, ComputerSums {}

type Totals<Sums> = { readonly [Name in keyof Sums & string as `all_${Name}`]: string };

/** The totals of the range, of whichever kind. */
export interface TotalsRow extends Totals<MeterSums> {
  /** Hosting of the days with a seat plan. */
  readonly all_shared: string;
}

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

const figuresOf = (sums: AgentSums): UsageFigures => ({
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

const basisOf = ({ seat }: BoxRow): HostingBasis => (Number(seat) === 1 ? 'allocated' : 'metered');

const sizedFigures = ({ vcpu, mem, disk }: BoxRow) => ({
  vcpuSeconds: figure(vcpu, VCPU_SECONDS),
  memGbSeconds: figure(mem, MEM_GB_SECONDS),
  diskGbSeconds: figure(disk, SECONDS),
});

export const usageRow = (row: PageRow): UsageRow => {
  const { activeSeconds, ...figures } = figuresOf(row);
  return {
    agentId: row.box_id ?? '',
    agentName: row.name,
    externalId: row.external_id,
    externalUserId: row.external_user_id,
    hostingBasis: basisOf(row),
    activeSeconds,
    computeMinutes: figure(row.active_ms, MINUTES),
    ...sizedFigures(row),
    ...figures,
  };
};

export const dailyUsageRow = (row: PageRow): DailyUsageRow => ({
  date: dateOf(Number(row.day)),
  ...usageRow(row),
});

const computerFiguresOf = (sums: ComputerSums): ComputerUsageFigures => ({
  activeSeconds: figure(sums.active_ms, SECONDS),
  wakes: Number(sums.wakes),
  actions: Number(sums.actions),
  screenshots: Number(sums.screenshots),
  executions: Number(sums.executions),
  ...hostingCentsOf(sums),
});

export const computerUsageRow = (row: ComputerPageRow): ComputerUsageRow => {
  const { activeSeconds, ...figures } = computerFiguresOf(row);
  return {
    computerId: row.box_id ?? '',
    name: row.name,
    externalUserId: row.external_user_id,
    hostingBasis: basisOf(row),
    activeSeconds,
    ...sizedFigures(row),
    ...figures,
  };
};

/** The sums of the totals under the names that they have in rows. */
const sumsIn = <Sums>(row: TotalsRow): Sums =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, sum]) =>
      name.startsWith('all_') ? [[name.slice('all_'.length), sum as string]] : [],
    ),
  ) as Sums;

export const totalsOf = (row: TotalsRow): Omit<UsageTotals, 'unallocatedCents'> => figuresOf(sumsIn(row));

export const computerTotalsOf = (row: TotalsRow): ComputerUsageFigures => computerFiguresOf(sumsIn(row));
