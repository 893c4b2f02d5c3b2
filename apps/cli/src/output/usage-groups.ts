import type { DailyUsageRow, UsageFigures, UsageRow } from '@berth/contracts/billing';
import { formatCents, parseCents } from '@berth/kernel';

export const USAGE_GROUPS = ['agent', 'day', 'end-user'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

type Sizes = Pick<UsageRow, 'computeMinutes' | 'vcpuSeconds' | 'memGbSeconds' | 'diskGbSeconds'>;

/** The figures of one agent, day or end user. */
export interface UsageLine extends UsageFigures, Sizes {
  /** Which one: the members that name it, with their values. */
  readonly of: Readonly<Record<string, string | null>>;
}

/** Sums rows up by agent, by day (rows of days only) or by end user; `null` stands for agents without an end user. */
export const groupUsage = (rows: readonly UsageRow[], by: UsageGroup): readonly UsageLine[] => {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(nameOf(row, by)));
  return [...groups.values()].flatMap((some) => {
    const [first] = some;
    return first === undefined ? [] : [{ of: nameOf(first, by), ...figuresOf(some) }];
  });
};

const nameOf = (row: UsageRow, by: UsageGroup): UsageLine['of'] => {
  switch (by) {
    case 'agent': {
      const { agentId, agentName, externalId, externalUserId, hostingBasis } = row;
      return { agentId, agentName, externalId, externalUserId, hostingBasis };
    }
    case 'day':
      return { date: (row as DailyUsageRow).date };
    case 'end-user':
      return { externalUserId: row.externalUserId };
  }
};

const figuresOf = (rows: readonly UsageRow[]): UsageFigures & Sizes => {
  const sumOf = (of: (row: UsageRow) => number): number => sum(rows.map(of));
  return {
    activeSeconds: sumOf((row) => row.activeSeconds),
    computeMinutes: sumOf((row) => row.computeMinutes),
    vcpuSeconds: sumOf((row) => row.vcpuSeconds),
    memGbSeconds: sumOf((row) => row.memGbSeconds),
    diskGbSeconds: sumOf((row) => row.diskGbSeconds),
    wakes: sumOf((row) => row.wakes),
    chats: sumOf((row) => row.chats),
    executions: sumOf((row) => row.executions),
    llm: {
      requests: sumOf((row) => row.llm.requests),
      inputTokens: sumOf((row) => row.llm.inputTokens),
      outputTokens: sumOf((row) => row.llm.outputTokens),
    },
    hostingCents: sumOf((row) => row.hostingCents),
    aiCents: sumOf((row) => row.aiCents),
    totalCents: sumOf((row) => row.totalCents),
  };
};

/** Every figure has up to six decimals, so that it is summed up as cents are, without loss. */
const sum = (figures: readonly number[]): number =>
  JSON.parse(
    formatCents(figures.reduce((total, figure) => total + (parseCents(figure) ?? 0n), 0n)),
  ) as number;
