import type { OwnAccountView } from '@berth/contracts/accounts';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

/** `berth account` */
export const accountCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('account')
    .description('the account of the key: its plan and its credits')
    .option('--json', 'print it as JSON')
    .action(async (options: { readonly json?: true }) => {
      const account = await api().call<OwnAccountView>({ method: 'GET', path: '/api/v1/account' });
      terminal.out.write(options.json === true ? `${JSON.stringify(account, null, 2)}\n` : tableOf(account));
    });

const tableOf = ({ id, name, plan, credits, key }: OwnAccountView): string =>
  formatTable(
    ['ACCOUNT', id],
    [
      ['name', name],
      ['plan', plan],
      ['credits in cents', String(credits.balanceCents ?? 'not counted')],
      ['key', `${key.id} (${key.scopes.join(', ')})`],
    ],
  );
