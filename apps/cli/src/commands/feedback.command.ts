import { FEEDBACK_KINDS, type FeedbackKind, type FeedbackView } from '@berth/contracts/accounts';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { listItems } from '../list-items.js';
import { numberWithin } from '../number-within.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

interface SendOptions {
  readonly kind: FeedbackKind;
  readonly subject?: string;
  readonly requestId?: string;
  readonly statusCode?: number;
}

/** `berth feedback send|list` */
export const feedbackCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const feedback = new Command('feedback').description('reports about the API to its operator');
  feedback.addCommand(sendCommand(api, terminal));
  feedback.addCommand(listCommand(api, terminal));
  return feedback;
};

const sendCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('send')
    .description('send a report, and print its id')
    .argument('<message>')
    .addOption(new Option('--kind <kind>', 'what it is about').choices(FEEDBACK_KINDS).makeOptionMandatory())
    .option('--subject <text>')
    .option('--request-id <id>', 'X-Request-Id of the response that it is about')
    .option(
      '--status-code <status>',
      'of that response',
      numberWithin({ type: 'integer', minimum: 100, maximum: 599 }),
    )
    .action(async (message: string, options: SendOptions) => {
      const body = { ...options, message, tool: 'berth' };
      const { id } = await api().call<FeedbackView>({ method: 'POST', path: '/api/v1/feedback', body });
      terminal.out.write(`${id}\n`);
    });

const listCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('list')
    .description('the reports of all accounts, newest first (scope operate)')
    .option('--limit <count>', 'how many', numberWithin({ type: 'integer', minimum: 1 }), 50)
    .option('--json', 'print them as JSON')
    .action(async ({ limit, json }: { readonly limit: number; readonly json?: true }) => {
      const items = await listItems<FeedbackView>(api(), '/api/v1/operations/feedback', { limit });
      terminal.out.write(json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

const tableOf = (items: readonly FeedbackView[]): string =>
  formatTable(
    ['CREATED', 'KIND', 'ACCOUNT', 'REQUEST', 'STATUS', 'MESSAGE'],
    items.map(({ createdAt, kind, accountId, requestId, statusCode, message }) => [
      createdAt,
      kind,
      accountId,
      printable(requestId ?? '-'),
      String(statusCode ?? '-'),
      printable(message),
    ]),
  );
