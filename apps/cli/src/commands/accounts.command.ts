import type { AccountView, MintedKey, OpenedAccount, UpdateAccountBody } from '@berth/contracts/accounts';
import type { Page } from '@berth/kernel';
import { Command, InvalidArgumentError } from 'commander';
import type { ApiClient } from '../api-client.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const PATH = '/api/v1/operations/accounts';
const PAGE = 200;

/** `berth accounts list|create|plan|credits|suspend|resume|keys` */
export const accountsCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const accounts = new Command('accounts').description('the accounts of the installation (scope operate)');
  accounts.addCommand(listCommand(api, terminal));
  accounts.addCommand(createCommand(api, terminal));
  accounts.addCommand(planCommand(api, terminal));
  accounts.addCommand(creditsCommand(api, terminal));
  accounts.addCommand(standingCommand('suspend', api, terminal));
  accounts.addCommand(standingCommand('resume', api, terminal));
  accounts.addCommand(keysCommand(api, terminal));
  return accounts;
};

const listCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('list')
    .description('all accounts, newest first')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const items = await allAccounts(api());
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

const createCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('create')
    .description('open an account and print its first key once')
    .argument('<name>', '1 to 128 characters')
    .option('--plan <id>', 'id of a plan; without it, default')
    .option('--json', 'print the whole response as JSON')
    .action(async (name: string, options: { readonly plan?: string; readonly json?: true }) => {
      const opened = await api().call<OpenedAccount>({
        method: 'POST',
        path: PATH,
        body: { name, ...(options.plan === undefined ? {} : { planId: options.plan }) },
      });
      if (options.json === true) terminal.out.write(`${JSON.stringify(opened, null, 2)}\n`);
      else showOnce(opened.key, `Account ${opened.id} (${printable(name)}).`, terminal);
    });

const planCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('plan')
    .description('give an account another plan of the operator’s file')
    .argument('<id>', 'acc_…')
    .argument('<plan>', 'id of a plan')
    .action(async (id: string, plan: string) => {
      const body: UpdateAccountBody = { planId: plan };
      const { name, planId } = await api().call<AccountView>({ method: 'PUT', path: pathOf(id), body });
      terminal.err.write(`${printable(name)} has the plan ${printable(planId)}.\n`);
    });

/** `POST /api/v1/operations/accounts/{id}/credits` */
interface Granted {
  readonly balanceCents: number | null;
}

const creditsCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('credits')
    .description(
      'add credits to an account and print its balance in cents; write -- before a negative number',
    )
    .argument('<id>', 'acc_…')
    .argument('<cents>', 'whole cents; a negative number takes credits away', wholeCents)
    .option('--note <text>', 'why; recorded in the audit')
    .action(async (id: string, cents: number, { note }: { readonly note?: string }) => {
      const { balanceCents } = await api().call<Granted>({
        method: 'POST',
        path: `${pathOf(id)}/credits`,
        body: { cents, ...(note === undefined ? {} : { note }) },
      });
      terminal.out.write(`${String(balanceCents)}\n`);
    });

const wholeCents = (text: string): number => {
  const cents: unknown = /^-?\d{1,15}$/.test(text)
    ? JSON.parse(text.replace(/^(-?)0+(?=\d)/, '$1'))
    : undefined;
  if (typeof cents === 'number') return cents;
  throw new InvalidArgumentError('Give whole cents.');
};

const standingCommand = (verb: 'suspend' | 'resume', api: () => ApiClient, terminal: Terminal): Command =>
  new Command(verb)
    .description(
      verb === 'suspend'
        ? 'reject the keys of an account at once and put its agents to sleep'
        : 'accept the keys of a suspended account again; wakes no agent',
    )
    .argument('<id>', 'acc_…')
    .action(async (id: string) => {
      const body: UpdateAccountBody = { suspended: verb === 'suspend' };
      const { name } = await api().call<AccountView>({ method: 'PUT', path: pathOf(id), body });
      terminal.err.write(`${printable(name)} is ${verb === 'suspend' ? 'suspended' : 'active'}.\n`);
    });

const keysCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('keys')
    .description('mint another first key for an account that lost its own, and print it once')
    .argument('<id>', 'acc_…')
    .action(async (id: string) => {
      const minted = await api().call<MintedKey>({ method: 'POST', path: `${pathOf(id)}/keys` });
      showOnce(minted.key, `Key ${minted.id} of ${printable(id)}.`, terminal);
    });

const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

/** Only the key goes to standard output, so that a script can capture it. */
const showOnce = (key: string, what: string, terminal: Terminal): void => {
  terminal.out.write(`${key}\n`);
  terminal.err.write(`${what} The key is not shown again.\n`);
};

const allAccounts = async (api: ApiClient): Promise<readonly AccountView[]> => {
  const accounts: AccountView[] = [];
  for (let query = `limit=${PAGE}`; query !== '';) {
    const page = await api.call<Page<AccountView>>({ method: 'GET', path: `${PATH}?${query}` });
    accounts.push(...page.items);
    query = page.nextCursor === null ? '' : `limit=${PAGE}&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return accounts;
};

const tableOf = (accounts: readonly AccountView[]): string =>
  formatTable(
    ['ID', 'NAME', 'PLAN', 'CREATED', 'SUSPENDED'],
    accounts.map(({ id, name, planId, createdAt, suspendedAt }) => [
      id,
      name,
      planId,
      createdAt,
      suspendedAt ?? '-',
    ]),
  );
