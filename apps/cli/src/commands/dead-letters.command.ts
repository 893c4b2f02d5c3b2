import type { DeadLetterView } from '@berth/contracts/operations';
import type { Page } from '@berth/kernel';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const PATH = '/api/v1/operations/dead-letters';
const PAGE = 200;

/** `berth dead-letters list|replay|delete` */
export const deadLettersCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const deadLetters = new Command('dead-letters').description(
    'events that a service could not handle (scope operate)',
  );
  deadLetters
    .command('list')
    .description('every dead letter, with the reason')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const items = await list(api());
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });
  deadLetters
    .command('replay')
    .description('handle the event again; the dead letter is removed once that succeeds')
    .argument('<id>')
    .action(async (id: string) => {
      await api().call({ method: 'POST', path: `${PATH}/${encodeURIComponent(id)}/replay` });
      terminal.err.write(`${id} was replayed.\n`);
    });
  deadLetters
    .command('delete')
    .description('delete a dead letter; its event remains unhandled')
    .argument('<id>')
    .action(async (id: string) => {
      await api().call({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}` });
      terminal.err.write(`${id} was deleted.\n`);
    });
  return deadLetters;
};

const list = async (api: ApiClient): Promise<readonly DeadLetterView[]> => {
  const items: DeadLetterView[] = [];
  for (let query = `limit=${PAGE}`; query !== '';) {
    const page = await api.call<Page<DeadLetterView>>({ method: 'GET', path: `${PATH}?${query}` });
    items.push(...page.items);
    query = page.nextCursor === null ? '' : `limit=${PAGE}&cursor=${page.nextCursor}`;
  }
  return items;
};

const tableOf = (items: readonly DeadLetterView[]): string =>
  formatTable(
    ['ID', 'CONSUMER', 'SUBJECT', 'DELIVERIES', 'AT', 'REASON'],
    items.map((item) => [
      item.id,
      item.consumer,
      item.subject,
      String(item.deliveries),
      item.at,
      item.reason,
    ]),
  );
