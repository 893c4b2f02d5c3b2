import { defineRequest } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { UsageQuery, UsageRecountQuery } from './billing.schemas.js';

export const HOSTING_BASES = ['metered', 'allocated'] as const;

/** `allocated`: hosting is a share of the price of a seat plan. */
export type HostingBasis = (typeof HOSTING_BASES)[number];

export interface LlmUse {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What an agent used. Cents have up to six decimals. */
export interface UsageFigures {
  /** Three decimals, as all seconds of time. */
  readonly activeSeconds: number;
  readonly wakes: number;
  readonly chats: number;
  readonly executions: number;
  readonly llm: LlmUse;
  readonly hostingCents: number;
  readonly aiCents: number;
  /** Hosting and AI. */
  readonly totalCents: number;
}

export interface UsageRow extends UsageFigures {
  readonly agentId: string;
  /** Names and external ids are null once the agent's end user is deleted. */
  readonly agentName: string | null;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
  /** That of the last day. */
  readonly hostingBasis: HostingBasis;
  readonly computeMinutes: number;
  readonly vcpuSeconds: number;
  readonly memGbSeconds: number;
  readonly diskGbSeconds: number;
}

export interface DailyUsageRow extends UsageRow {
  /** `2026-11-23`, a day in UTC. */
  readonly date: string;
}

export interface UsageTotals extends UsageFigures {
  /** The price of days of a seat plan without an active agent; not part of `totalCents`. */
  readonly unallocatedCents: number;
}

/** Times are ISO 8601. */
export interface UsageReport<Row extends UsageRow = UsageRow> {
  readonly from: string;
  readonly to: string;
  readonly currency: 'USD';
  readonly rows: readonly Row[];
  /** The sums of all rows of the range, not only of this page. */
  readonly totals: UsageTotals;
  readonly nextCursor: string | null;
  /** Usage in progress, such as a running agent, is counted up to this moment. */
  readonly asOf: string;
}

/** `from` and `to` are ISO 8601. */
export interface GetUsage extends NullWhenAbsent<UsageQuery> {
  readonly accountId: string;
}

/** `from` and `to` are ISO 8601. */
export type VerifyUsage = NullWhenAbsent<UsageRecountQuery>;

/** What a computer used. Units as in `UsageFigures`. */
export interface ComputerUsageFigures {
  readonly activeSeconds: number;
  readonly wakes: number;
  /** Results of batches. */
  readonly actions: number;
  /** Every image. */
  readonly screenshots: number;
  readonly executions: number;
  /** 0 on a seat plan. */
  readonly hostingCents: number;
  readonly totalCents: number;
}

export interface ComputerUsageRow extends ComputerUsageFigures {
  readonly computerId: string;
  /** Null once the computer's end user is deleted, like `externalUserId`. */
  readonly name: string | null;
  readonly externalUserId: string | null;
  readonly hostingBasis: HostingBasis;
  readonly vcpuSeconds: number;
  readonly memGbSeconds: number;
  readonly diskGbSeconds: number;
}

export interface ComputerUsageReport extends Omit<UsageReport, 'rows' | 'totals'> {
  readonly rows: readonly ComputerUsageRow[];
  readonly totals: ComputerUsageFigures;
}

/** `from` and `to` are ISO 8601. */
export interface GetComputerUsage extends NullWhenAbsent<Omit<UsageQuery, 'agentId'>> {
  readonly accountId: string;
  readonly computerId: string | null;
}

/** A figure that differs. Money in millionths of a cent, sizes times milliseconds in millionths of a CPU, MiB and GiB. */
export interface UsageDifference {
  readonly accountId: string;
  /** Null for a sum of the account. */
  readonly date: string | null;
  /** The agent, or the computer (`cmp_…`). */
  readonly agentId: string | null;
  readonly member: string;
  /** Null if there is no such row. */
  readonly counted: string | null;
  readonly recounted: string | null;
}

/** A comparison of the rows of all accounts with a recount from the log. Times are ISO 8601. */
export interface UsageVerification {
  readonly from: string;
  readonly to: string;
  readonly asOf: string;
  readonly accounts: number;
  /** Events of the log that were read. */
  readonly events: number;
  readonly rows: number;
  /** How many figures differ. */
  readonly differing: number;
  /** The first 100 of them. */
  readonly differences: readonly UsageDifference[];
}

/** The requests that `billing` handles. */
export const billingRequests = {
  /**
   * A row for each agent that existed in the range, by agent id. Errors: invalid `invalid_request` for a range or a
   * malformed cursor; unavailable `service_unavailable` while the events of the last seconds are not counted yet.
   */
  usage: defineRequest<GetUsage, UsageReport>('qry.billing.usage.v1', 30_000),
  /** A row for each day and agent, by date and agent id. Errors: as `usage`. */
  dailyUsage: defineRequest<GetUsage, UsageReport<DailyUsageRow>>('qry.billing.daily-usage.v1', 30_000),
  /** A row for each computer that existed in the range, by computer id. Errors: as `usage`. */
  computerUsage: defineRequest<GetComputerUsage, ComputerUsageReport>(
    'qry.billing.computer-usage.v1',
    30_000,
  ),
  /** Reads the whole log. Errors: as `usage`. */
  verify: defineRequest<VerifyUsage, UsageVerification>('qry.billing.verify.v1', 600_000),
};

/** How long a recount may take, in milliseconds: it reads the whole event log. */
export const RECOUNTED_WITHIN_MS = billingRequests.verify.deadlineMs;
