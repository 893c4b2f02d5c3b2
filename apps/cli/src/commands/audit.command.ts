import { AUDIT_ACTIONS, type AuditView } from '@berth/contracts/audit';
import type { Page } from '@berth/kernel';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const MAX_PAGE = 200;

interface AuditOptions {
  readonly actor?: string;
  readonly resource?: string;
  readonly action?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly json?: true;
}

/** `berth audit` */
export const auditCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('audit')
    .description('who did what in the account, newest first (scope manage)')
    .option('--actor <id>', 'only what this key, end user or agent did')
    .option('--resource <id>', 'only what concerns this agent, key, execution or account')
    .addOption(new Option('--action <action>', 'only this action').choices(AUDIT_ACTIONS))
    .option('--from <time>', 'ISO 8601, inclusive')
    .option('--to <time>', 'ISO 8601, inclusive')
    .option('--limit <count>', 'how many', parseCount, 50)
    .option('--json', 'print them as JSON')
    .action(async (options: AuditOptions) => {
      const items = await newest(api(), options);
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

const newest = async (api: ApiClient, options: AuditOptions): Promise<readonly AuditView[]> => {
  const items: AuditView[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(MAX_PAGE, options.limit - items.length)) });
    for (const name of ['actor', 'resource', 'action', 'from', 'to'] as const) {
      const value = options[name];
      if (value !== undefined) query.set(name, value);
    }
    if (cursor !== null) query.set('cursor', cursor);
    const page: Page<AuditView> = await api.call({
      method: 'GET',
      path: `/api/v1/audit?${query.toString()}`,
    });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < options.limit);
  return items;
};

const tableOf = (items: readonly AuditView[]): string =>
  formatTable(
    ['AT', 'ACTOR', 'ACTION', 'RESOURCE', 'OUTCOME', 'DETAILS'],
    items.map(({ at, actor, action, resource, outcome, details }) => [
      at,
      `${actor.kind} ${printable(actor.id ?? '-')}`,
      action,
      printable(resource.id ?? '-'),
      outcome,
      printable(JSON.stringify(details)),
    ]),
  );

const parseCount = (value: string): number => {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Give a number from 1.');
  return count;
};
