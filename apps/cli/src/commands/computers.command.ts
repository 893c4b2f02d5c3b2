import type { Env } from '@berth/config';
import type { ComputerUsageReport, ComputerUsageRow } from '@berth/contracts/billing';
import { COMPUTER_STATUSES, type ComputerView } from '@berth/contracts/computers';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { COMPUTERS_PATH, findComputer, WAKE_MS } from '../computers/find-computer.js';
import { confirm } from '../confirm.js';
import { listPage } from '../list-items.js';
import { numberWithin } from '../number-within.js';
import { computerDetail, computerTable, computerUsageTable } from '../output/computer-table.js';
import { formatJson } from '../output/json.js';
import type { Terminal } from '../terminal.js';
import { clickCommand, keyCommand, typeCommand } from './computer-actions.command.js';
import { computerCopyCommand } from './computer-copy.command.js';
import { computerExecCommand } from './computer-exec.command.js';
import { screenshotCommand } from './computer-screenshot.command.js';
import { computerSetupCommand } from './computer-setup.command.js';
import { computerViewCommand } from './computer-view.command.js';

const DEFAULT_LIMIT = 50;
const POLL_MS = 500;

/** `berth computers list|create|get|wake|sleep|screenshot|click|type|key|exec|cp|view|delete|usage|setup` */
export const computersCommand = (api: () => ApiClient, env: Env, terminal: Terminal): Command => {
  const computers = new Command('computers').description(
    'persistent desktops, each with a browser, a terminal and files (scope computers)',
  );
  computers.addCommand(listCommand(api, terminal));
  computers.addCommand(createCommand(api, terminal));
  computers.addCommand(getCommand(api, terminal));
  for (const verb of ['wake', 'sleep'] as const) computers.addCommand(transitionCommand(verb, api, terminal));
  computers.addCommand(screenshotCommand(api, env, terminal));
  computers.addCommand(clickCommand(api, terminal));
  computers.addCommand(typeCommand(api, terminal));
  computers.addCommand(keyCommand(api, terminal));
  computers.addCommand(computerExecCommand(api, terminal));
  computers.addCommand(computerCopyCommand(api, terminal));
  computers.addCommand(computerViewCommand(api, env, terminal));
  computers.addCommand(deleteCommand(api, terminal));
  computers.addCommand(usageCommand(api, terminal));
  computers.addCommand(computerSetupCommand(env, terminal));
  return computers;
};

interface Printing {
  readonly json?: true;
  readonly quiet?: true;
}

interface ListOptions extends Printing {
  readonly endUser?: string;
  readonly status?: ComputerView['status'];
  readonly limit: number;
  readonly all?: true;
}

const listCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('list')
    .description('computers, newest first')
    .option('--end-user <external-id>', 'only that of this end user')
    .addOption(new Option('--status <status>', 'only those with this status').choices(COMPUTER_STATUSES))
    .option('--limit <count>', 'how many', numberWithin({ type: 'integer', minimum: 1 }), DEFAULT_LIMIT)
    .option('--all', 'however many there are')
    .option('--json', 'print them as JSON')
    .option('--quiet', 'print only their ids')
    .action(async ({ endUser, status, limit, all, json, quiet }: ListOptions) => {
      const page = await listPage<ComputerView>(api(), COMPUTERS_PATH, {
        filters: { externalUserId: endUser, status },
        ...(all === true ? {} : { limit }),
      });
      if (json === true) terminal.out.write(formatJson(page));
      else if (quiet === true) for (const { id } of page.items) terminal.out.write(`${id}\n`);
      else terminal.out.write(computerTable(page.items));
    });

interface CreateOptions extends Printing {
  readonly name?: string;
  readonly endUser?: string;
  readonly display?: ComputerView['display'];
  readonly ttl?: number;
  readonly wait?: true;
}

const createCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('create')
    .description('create a computer and print its id; an end user has one, which a repetition returns')
    .option('--name <name>', 'need not be unique')
    .option('--end-user <external-id>', 'who owns it')
    .option('--display <width x height>', 'in pixels; by default 1280x800', parseDisplay)
    .option(
      '--ttl <seconds>',
      'seconds without activity until it sleeps; 0: never',
      numberWithin({ type: 'integer' }),
    )
    .option('--wait', 'until it runs')
    .option('--json', 'print it as JSON')
    .option('--quiet', 'print only its id')
    .addHelpText('after', '\nExample: berth computers create --name desk --display 1920x1080 --wait')
    .action(async ({ name, endUser, display, ttl, wait, json }: CreateOptions) => {
      const body = { name, externalUserId: endUser, display, idleTtlSeconds: ttl };
      const created = await api().call<ComputerView>({
        method: 'POST',
        path: COMPUTERS_PATH,
        body,
        withinMs: WAKE_MS,
      });
      if (json !== true) terminal.out.write(`${created.id}\n`);
      const computer = wait === true ? await untilAwake(api(), created) : created;
      if (json === true) terminal.out.write(formatJson(computer));
    });

const parseDisplay = (text: string): ComputerView['display'] => {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text) ?? [];
  if (width === undefined || height === undefined)
    throw new InvalidArgumentError('Give width x height in pixels, such as 1280x800.');
  return { width: Number(width), height: Number(height) };
};

/** `wake` waits up to a minute for the start that is under way. */
const untilAwake = async (api: ApiClient, { id }: ComputerView): Promise<ComputerView> => {
  const path = `${COMPUTERS_PATH}/${id}/wake`;
  for (;;) {
    const computer = await api.call<ComputerView>({ method: 'POST', path, withinMs: WAKE_MS });
    if (computer.status === 'running') return computer;
    if (computer.status !== 'starting')
      throw new CliError(EXIT.refused, `The computer is ${computer.status}.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const getCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('get')
    .description('one computer')
    .argument('<computer>', 'id or name')
    .option('--json', 'print it as JSON')
    .action(async (which: string, { json }: Printing) => {
      const client = api();
      const path = await findComputer(client, which);
      const computer = await client.call<ComputerView>({ method: 'GET', path });
      terminal.out.write(json === true ? formatJson(computer) : computerDetail(computer));
    });

const transitionCommand = (verb: 'wake' | 'sleep', api: () => ApiClient, terminal: Terminal): Command =>
  new Command(verb)
    .description(
      verb === 'wake' ? 'wake a computer; whatever uses one does, too' : 'put a computer to sleep at once',
    )
    .argument('<computer>', 'id or name')
    .option('--json', 'print it as JSON')
    .action(async (which: string, { json }: Printing) => {
      const client = api();
      const path = `${await findComputer(client, which)}/${verb}`;
      const computer = await client.call<ComputerView>({ method: 'POST', path, withinMs: WAKE_MS });
      if (json === true) terminal.out.write(formatJson(computer));
      else terminal.err.write(`${computer.id} is ${computer.status}.\n`);
    });

const deleteCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('delete')
    .description('delete a computer with its files')
    .argument('<computer>', 'id or name')
    .option('--yes', 'do not ask')
    .action(async (which: string, options: { readonly yes?: true }) => {
      await confirm(`Delete the computer ${which} with its files?`, options, terminal);
      const client = api();
      const path = await findComputer(client, which);
      await client.call({ method: 'DELETE', path, withinMs: WAKE_MS });
      terminal.err.write(`${which} is deleted.\n`);
    });

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly endUser?: string;
  readonly json?: true;
}

const usageCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('usage')
    .description('what computers used, in whole days (UTC)')
    .option('--from <time>', 'ISO 8601; by default 30 days before --to')
    .option('--to <time>', 'ISO 8601, exclusive; by default now')
    .option('--end-user <external-id>', 'only that of this end user')
    .option('--json', 'print it as JSON')
    .action(async ({ json, endUser, from, to }: UsageOptions) => {
      const report = await readUsage(api(), { from, to, externalUserId: endUser });
      terminal.out.write(json === true ? formatJson(report) : computerUsageTable(report));
    });

const readUsage = async (
  api: ApiClient,
  asked: Readonly<Record<string, string | undefined>>,
): Promise<ComputerUsageReport> => {
  const rows: ComputerUsageRow[] = [];
  let filters = asked;
  for (;;) {
    const query = new URLSearchParams(
      Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const path = `${COMPUTERS_PATH}/usage?${query.toString()}`;
    const report = await api.call<ComputerUsageReport>({ method: 'GET', path });
    rows.push(...report.rows);
    if (report.nextCursor === null) return { ...report, rows };
    // A default depends on the time of the request, but all pages are of one range.
    filters = { ...asked, from: report.from, to: report.to, cursor: report.nextCursor };
  }
};
