import type { AgentView } from '@berth/contracts/agents';
import { END_USER_STATUSES, type EndUserStatus, type EndUserView } from '@berth/contracts/end-users';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { END_USERS_PATH, endUserArgument, endUserPath } from '../end-user-path.js';
import { listItems } from '../list-items.js';
import { numberWithin } from '../number-within.js';
import { agentTable } from '../output/agent-table.js';
import { endUserDetail, type EndUserDetail } from '../output/end-user-detail.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';
import { defaultsCommand, policyCommand } from './end-user-policy.command.js';
import { putCommand } from './end-user-put.command.js';
import { tokenCommand } from './end-user-token.command.js';

/** The service returns once the agents of the end user are deleted. */
const DELETION_MS = 90_000;

/** `berth end-users list|show|put|delete|suspend|resume|agents|policy|token|defaults` */
export const endUsersCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const endUsers = new Command('end-users').description(
    'your own users, who own agents (changes need scope manage)',
  );
  endUsers.addCommand(listCommand(api, terminal));
  endUsers.addCommand(showCommand(api, terminal));
  endUsers.addCommand(putCommand(api, terminal));
  endUsers.addCommand(deleteCommand(api, terminal));
  endUsers.addCommand(standingCommand('suspend', api, terminal));
  endUsers.addCommand(standingCommand('resume', api, terminal));
  endUsers.addCommand(agentsCommand(api, terminal));
  endUsers.addCommand(policyCommand(api, terminal));
  endUsers.addCommand(tokenCommand(api, terminal));
  endUsers.addCommand(defaultsCommand(api, terminal));
  return endUsers;
};

interface ListOptions {
  readonly tag?: string;
  readonly status?: EndUserStatus;
  readonly prefix?: string;
  readonly lastActiveBefore?: string;
  readonly lastActiveAfter?: string;
  readonly limit?: number;
  readonly json?: true;
}

const listCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('list')
    .description('end users, newest first')
    .option('--tag <tag>', 'only those with this tag')
    .addOption(new Option('--status <status>', 'only those with this status').choices(END_USER_STATUSES))
    .option('--prefix <text>', 'only those whose external id begins with it; _ and % are characters')
    .option('--last-active-before <time>', 'ISO 8601; leaves out those who never were')
    .option('--last-active-after <time>', 'ISO 8601; leaves out those who never were')
    .option('--limit <count>', 'how many; without it all', numberWithin({ type: 'integer', minimum: 1 }))
    .option('--json', 'print them as JSON')
    .action(async ({ limit, json, prefix, tag, status, lastActiveBefore, lastActiveAfter }: ListOptions) => {
      const items = await listItems<EndUserView>(api(), END_USERS_PATH, {
        filters: { tag, status, externalIdPrefix: prefix, lastActiveBefore, lastActiveAfter },
        ...(limit === undefined ? {} : { limit }),
      });
      terminal.out.write(json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });

const showCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('show')
    .description('an end user with its policy, its use of the month and its agents')
    .addArgument(endUserArgument())
    .option('--json', 'print it as JSON')
    .action(async (externalId: string, { json }: { readonly json?: true }) => {
      const found = await api().call<EndUserDetail>({ method: 'GET', path: endUserPath(externalId) });
      terminal.out.write(json === true ? `${JSON.stringify(found, null, 2)}\n` : endUserDetail(found));
    });

const deleteCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('delete')
    .description('delete an end user with its agents, tokens and personal data; cannot be undone')
    .addArgument(endUserArgument())
    .action(async (externalId: string) => {
      await api().call({ method: 'DELETE', path: endUserPath(externalId), withinMs: DELETION_MS });
      terminal.err.write(`${externalId} was deleted.\n`);
    });

const standingCommand = (verb: 'suspend' | 'resume', api: () => ApiClient, terminal: Terminal): Command =>
  new Command(verb)
    .description(
      verb === 'suspend'
        ? 'put the agents of an end user to sleep, and reject its tokens and whatever would use its agents'
        : 'end the suspension of an end user; wakes no agent',
    )
    .addArgument(endUserArgument())
    .action(async (externalId: string) => {
      const path = `${endUserPath(externalId)}/${verb}`;
      const { status } = await api().call<EndUserView>({ method: 'POST', path });
      terminal.err.write(`${externalId} is ${status}.\n`);
    });

const agentsCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('agents')
    .description('the agents of an end user, newest first')
    .addArgument(endUserArgument())
    .option('--json', 'print them as JSON')
    .action(async (externalId: string, { json }: { readonly json?: true }) => {
      const path = `${endUserPath(externalId)}/agents`;
      const { items } = await api().call<{ readonly items: readonly AgentView[] }>({ method: 'GET', path });
      terminal.out.write(json === true ? `${JSON.stringify(items, null, 2)}\n` : agentTable(items));
    });

const tableOf = (endUsers: readonly EndUserView[]): string =>
  formatTable(
    ['EXTERNAL ID', 'NAME', 'STATUS', 'AGENTS', 'TAGS', 'LAST ACTIVE', 'CREATED'],
    endUsers.map(({ externalId, displayName, status, agentCount, tags, lastActiveAt, createdAt }) => [
      externalId,
      displayName ?? '-',
      status,
      String(agentCount),
      tags.join(',') || '-',
      lastActiveAt ?? '-',
      createdAt,
    ]),
  );
