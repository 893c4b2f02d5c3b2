import type { UsageReport, UsageRow } from '@berth/contracts/billing';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { groupUsage, USAGE_GROUPS, type UsageGroup } from '../output/usage-groups.js';
import { usageCsv, usageTable } from '../output/usage-table.js';
import type { Terminal } from '../terminal.js';
import { usageVerifyCommand } from './usage-verify.command.js';

const FORMATS = ['table', 'csv', 'json'] as const;

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: UsageGroup;
  readonly format: (typeof FORMATS)[number];
}

/** The members that name an agent, a day or an end user. */
const NAMES: Readonly<Record<UsageGroup, readonly string[]>> = {
  agent: ['agentId', 'agentName', 'externalId', 'externalUserId', 'hostingBasis'],
  day: ['date'],
  'end-user': ['externalUserId'],
};

/** `berth usage` */
export const usageCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('usage')
    .description('what the agents of the account used, in whole days (UTC)')
    .addCommand(usageVerifyCommand(api, terminal))
    .option('--from <time>', 'ISO 8601; by default 30 days before --to')
    .option('--to <time>', 'ISO 8601, exclusive; by default now')
    .addOption(new Option('--by <what>', 'sum up by').choices(USAGE_GROUPS).default('agent'))
    .addOption(new Option('--format <format>', 'print as').choices(FORMATS).default('table'))
    .action(async ({ from, to, by, format }: UsageOptions) => {
      const rows = await readRows(api(), by === 'day' ? '/api/v1/usage/daily' : '/api/v1/usage', {
        from,
        to,
      });
      const lines = groupUsage(rows, by);
      terminal.out.write(
        format === 'json'
          ? `${JSON.stringify(
              lines.map(({ of, ...figures }) => ({ ...of, ...figures })),
              null,
              2,
            )}\n`
          : (format === 'csv' ? usageCsv : usageTable)(NAMES[by], lines),
      );
    });

const readRows = async (
  api: ApiClient,
  path: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<readonly UsageRow[]> => {
  const rows: UsageRow[] = [];
  let range = given;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(range)) if (value !== undefined) query.set(name, value);
    if (cursor !== null) query.set('cursor', cursor);
    const report: UsageReport = await api.call({ method: 'GET', path: `${path}?${query.toString()}` });
    rows.push(...report.rows);
    // A default depends on the time of the request, but all pages are of one range.
    range = { from: report.from, to: report.to };
    cursor = report.nextCursor;
  } while (cursor !== null);
  return rows;
};
