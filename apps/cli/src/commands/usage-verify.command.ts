import { RECOUNTED_WITHIN_MS, type UsageVerification } from '@berth/contracts/billing';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

interface VerifyOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

/** The service reads the whole log; this is for the way there and back. */
const CARRIED_MS = 10_000;

/** `berth usage verify` */
export const usageVerifyCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('verify')
    .description('compare the usage of all accounts with a recount from the event log (scope operate)')
    .option('--from <time>', 'ISO 8601; by default 30 days ago')
    .option('--to <time>', 'ISO 8601; by default now')
    .option('--json', 'print the result as JSON')
    .action(async (_options: VerifyOptions, command: Command) => {
      // The parent command `usage` has options of the same names, and commander gives the values to it.
      const { from, to, json } = command.optsWithGlobals<VerifyOptions>();
      const query = new URLSearchParams({
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      });
      const result = await api().call<UsageVerification>({
        method: 'GET',
        path: `/api/v1/operations/usage-recount?${query.toString()}`,
        withinMs: RECOUNTED_WITHIN_MS + CARRIED_MS,
      });
      terminal.out.write(json === true ? `${JSON.stringify(result, null, 2)}\n` : textOf(result));
      if (result.differing > 0)
        throw new CliError(EXIT.refused, `${result.differing} figures differ from the event log.`);
    });

const textOf = ({ from, to, accounts, rows, events, differences }: UsageVerification): string => {
  const summary = `${accounts} accounts, ${rows} rows from ${from} to ${to}, counted again from ${events} events\n`;
  if (differences.length === 0) return summary;
  return `${summary}${formatTable(
    ['ACCOUNT', 'DATE', 'AGENT', 'MEMBER', 'COUNTED', 'RECOUNTED'],
    differences.map(({ accountId, date, agentId, member, counted, recounted }) => [
      accountId,
      date ?? '-',
      agentId ?? '-',
      member,
      counted ?? '-',
      recounted ?? '-',
    ]),
  )}`;
};
