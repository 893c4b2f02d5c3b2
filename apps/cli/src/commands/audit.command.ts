import { AUDIT_ACTIONS, type AuditView } from '@berth/contracts/audit';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { listItems } from '../list-items.js';
import { numberWithin } from '../number-within.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

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
    .option('--limit <count>', 'how many', numberWithin({ type: 'integer', minimum: 1 }), 50)
    .option('--json', 'print them as JSON')
    .action(async ({ limit, json, ...filters }: AuditOptions) => {
      const items = await listItems<AuditView>(api(), '/api/v1/audit', { filters, limit });
      terminal.out.write(json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

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
