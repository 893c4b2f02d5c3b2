import {
  HOSTING_BASES,
  type DailyUsageRow,
  type UsageDifference,
  type UsageReport,
  type UsageRow,
  type UsageTotals,
  type UsageVerification,
} from '@berth/contracts/billing';
import {
  integer,
  list,
  number,
  object,
  ref,
  text,
  textOrNull,
  time,
  view,
  type JsonSchema,
  type MembersOf,
} from './json-schema.js';

const ofPerson: JsonSchema = {
  ...textOrNull,
  description: 'Null once the end user of the agent is deleted.',
};
export const cents: JsonSchema = { ...number, description: 'Cents (USD) with up to six decimals.' };
const llm = object({ requests: integer, inputTokens: integer, outputTokens: integer });

export const hostingBasis: JsonSchema = {
  enum: [...HOSTING_BASES],
  description: '`allocated`: a share of the price of a seat plan. That of the last day.',
};

const row: MembersOf<UsageRow> = {
  agentId: { ...text, examples: ['agt_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
  agentName: ofPerson,
  externalId: ofPerson,
  externalUserId: ofPerson,
  hostingBasis,
  activeSeconds: { ...number, description: 'Time for which the agent was running, to the millisecond.' },
  computeMinutes: number,
  vcpuSeconds: number,
  memGbSeconds: number,
  diskGbSeconds: number,
  wakes: integer,
  chats: integer,
  executions: integer,
  llm,
  hostingCents: cents,
  aiCents: cents,
  totalCents: cents,
};

const daily: MembersOf<DailyUsageRow> = {
  date: { ...text, format: 'date', description: 'A day in UTC.' },
  ...row,
};

/** A page of rows of usage, with their totals. */
export const usageReport = (name: string, totals: JsonSchema): JsonSchema =>
  view<UsageReport>({
    from: time,
    to: time,
    currency: { const: 'USD' },
    rows: list(ref(name)),
    totals,
    nextCursor: { ...textOrNull, description: 'Opaque; null on the last page.' },
    asOf: { ...time, description: 'Usage in progress is counted up to this moment.' },
  });

/** The schemas of responses about usage. */
export const USAGE_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  UsageRow: view<UsageRow>(row),
  DailyUsageRow: view<DailyUsageRow>(daily),
  UsageTotals: view<UsageTotals>({
    activeSeconds: number,
    wakes: integer,
    chats: integer,
    executions: integer,
    llm,
    hostingCents: cents,
    aiCents: cents,
    totalCents: cents,
    unallocatedCents: {
      ...cents,
      description: 'The price of days of a seat plan without an active agent. Not part of `totalCents`.',
    },
  }),
  UsageReport: usageReport('UsageRow', ref('UsageTotals')),
  DailyUsageReport: usageReport('DailyUsageRow', ref('UsageTotals')),
  UsageRecount: view<UsageVerification>({
    from: time,
    to: time,
    asOf: time,
    accounts: integer,
    events: { ...integer, description: 'Events of the log that were read.' },
    rows: integer,
    differing: { ...integer, description: 'Figures that differ.' },
    differences: list(
      view<UsageDifference>({
        accountId: text,
        date: textOrNull,
        agentId: textOrNull,
        member: text,
        counted: textOrNull,
        recounted: textOrNull,
      }),
    ),
  }),
};
