import {
  WEBHOOK_STATUSES,
  type AcceptedWebhook,
  type WebhookDeliveryView,
  type WebhookStatus,
} from '@berth/contracts/delivery';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { findAgent } from '../find-agent.js';
import { listItems } from '../list-items.js';
import { numberWithin } from '../number-within.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

interface ShownToken {
  readonly token: string;
  readonly url: string;
  readonly createdAt: string;
}

interface ListOptions {
  readonly status?: WebhookStatus;
  readonly limit: number;
  readonly json?: true;
}

/** `berth webhooks token|rotate|deliveries|redeliver` */
export const webhooksCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const webhooks = new Command('webhooks').description(
    'the URLs by which other systems send messages to agents',
  );
  webhooks.addCommand(tokenCommand('token', api, terminal));
  webhooks.addCommand(tokenCommand('rotate', api, terminal));
  webhooks.addCommand(deliveriesCommand(api, terminal));
  webhooks.addCommand(redeliverCommand(api, terminal));
  return webhooks;
};

const tokenCommand = (verb: 'token' | 'rotate', api: () => ApiClient, terminal: Terminal): Command =>
  new Command(verb)
    .description(
      verb === 'token'
        ? 'print the URL of an agent with its token (scope deploy)'
        : 'replace the token and print the new URL; the old token ends at once (scope manage)',
    )
    .argument('<agent>', 'id or name')
    .option('--json', 'print the whole response as JSON')
    .action(async (which: string, { json }: { readonly json?: true }) => {
      const path = `${await pathOf(api(), which)}/token`;
      const shown = await api().call<ShownToken>(
        verb === 'token' ? { method: 'GET', path } : { method: 'POST', path: `${path}/rotate` },
      );
      terminal.out.write(json === true ? `${JSON.stringify(shown, null, 2)}\n` : `${shown.url}\n`);
    });

const deliveriesCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('deliveries')
    .description('what was sent to an agent, newest first (scope deploy)')
    .argument('<agent>', 'id or name')
    .addOption(new Option('--status <status>', 'only those with this status').choices(WEBHOOK_STATUSES))
    .option('--limit <count>', 'how many', numberWithin({ type: 'integer', minimum: 1 }), 50)
    .option('--json', 'print them as JSON')
    .action(async (which: string, { status, limit, json }: ListOptions) => {
      const path = `${await pathOf(api(), which)}/deliveries`;
      const items = await listItems<WebhookDeliveryView>(api(), path, { filters: { status }, limit });
      terminal.out.write(json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

const redeliverCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('redeliver')
    .description('deliver the body of a delivery again, and print the id of the new one (scope deploy)')
    .argument('<agent>', 'id or name')
    .argument('<delivery>', 'dlv_…')
    .action(async (which: string, deliveryId: string) => {
      const path = `${await pathOf(api(), which)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`;
      const accepted = await api().call<AcceptedWebhook>({ method: 'POST', path });
      terminal.out.write(`${accepted.deliveryId}\n`);
    });

const pathOf = async (api: ApiClient, which: string): Promise<string> =>
  `/api/webhooks/${await findAgent(api, which)}`;

const tableOf = (items: readonly WebhookDeliveryView[]): string =>
  formatTable(
    ['ID', 'CREATED', 'STATUS', 'ATTEMPTS', 'BYTES', 'ERROR'],
    items.map(({ id, createdAt, status, attempts, bytes, error }) => [
      id,
      createdAt,
      status,
      String(attempts),
      String(bytes),
      error === null ? '-' : `${error.code}: ${printable(error.message)}`,
    ]),
  );
