import { setTimeout as sleep } from 'node:timers/promises';
import type { HostView } from '@berth/contracts/agents';
import type { AddedHost } from '@berth/contracts/operations';
import type { Page } from '@berth/kernel';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError } from '../cli-error.js';
import { addWithCertificate } from '../host-certificate.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const PATH = '/api/v1/operations/hosts';
const PAGE = 200;
/** A host counts as lost 30 s after it was last seen, at most 10 s before its credential was revoked. */
const LOST_WITHIN_MS = 45_000;
const RETRY_MS = 1_000;

/** An added host, and the URL at which it reaches the API on behalf of its agents. */
export type JoiningHost = AddedHost & { readonly gatewayUrl: string };

/** Adds and revokes the broker users of hosts, on the machine that runs Berth. */
export interface HostCredentials {
  add(name: string): Promise<JoiningHost>;
  /** Whether there was one. */
  revoke(id: string): Promise<boolean>;
}

/** `berth hosts list|drain|resume|add|remove` */
export const hostsCommand = (
  api: () => ApiClient,
  credentials: HostCredentials,
  terminal: Terminal,
): Command => {
  const hosts = new Command('hosts').description('the hosts that run agents (scope operate)');
  hosts
    .command('list')
    .description('every host, with its free memory and disk and its agents')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const items = await list(api());
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });
  for (const [verb, what] of [
    ['drain', 'place no new agents on a host; those there stay'],
    ['resume', 'place new agents on a drained host again'],
  ] as const)
    hosts
      .command(verb)
      .description(what)
      .argument('<id>', 'hst_…')
      .action(async (id: string) => {
        await api().call({ method: 'POST', path: `${PATH}/${encodeURIComponent(id)}/${verb}` });
        terminal.err.write(`${id}: ${verb === 'drain' ? 'gets no new agents' : 'gets new agents'}.\n`);
      });
  hosts
    .command('add')
    .description(
      'add a host and print its credential once (on the machine that runs Berth; needs BERTH_DATA or BERTH_BROKER_FOLDER)',
    )
    .argument('<name>', '1 to 64 letters, digits and . _ -')
    .option(
      '--tls <folder>',
      'write what TLS on the data port of the host needs to this new folder: cert.pem, key.pem and ca.pem',
    )
    .action(async (name: string, { tls }: { readonly tls?: string }) => {
      const add = (): Promise<JoiningHost> => credentials.add(name);
      showOnce(
        tls === undefined ? await add() : await addWithCertificate(tls, add, (id) => credentials.revoke(id)),
        terminal,
      );
      if (tls !== undefined) explainCertificate(name, tls, terminal);
    });
  hosts
    .command('remove')
    .description('revoke the credential of a host at once and give up its agents; cannot be undone')
    .argument('<id>', 'hst_…')
    .action((id: string) => remove(id, api(), credentials, terminal));
  return hosts;
};

/** Only the variables go to standard output, so that a script can write them to a file. */
const showOnce = ({ id, name, natsUrl, gatewayUrl }: JoiningHost, terminal: Terminal): void => {
  const variables = {
    BERTH_HOST_ID: id,
    BERTH_HOST_NAME: name,
    NATS_URL: natsUrl,
    BERTH_GATEWAY_URL: gatewayUrl,
  };
  for (const [variable, value] of Object.entries(variables)) terminal.out.write(`${variable}=${value}\n`);
  terminal.err.write(`Start a runtime with these variables as ${name}. They are not shown again.\n`);
};

const explainCertificate = (name: string, folder: string, terminal: Terminal): void =>
  void terminal.err.write(
    `Copy cert.pem and key.pem from ${folder} to ${name}, and name them in BERTH_DATA_CERT and BERTH_DATA_KEY there. ` +
      'Gateways verify them with ca.pem: name it in BERTH_DATA_CA, unless Berth runs here by `npm start`.\n',
  );

const remove = async (
  id: string,
  api: ApiClient,
  credentials: HostCredentials,
  terminal: Terminal,
): Promise<void> => {
  const revoked = await credentials.revoke(id).catch((error: unknown) => {
    terminal.err.write(`Its credential was not revoked: ${error instanceof Error ? error.message : ''}\n`);
    return false;
  });
  if (revoked)
    terminal.err.write(`The credential of ${id} was revoked. Waiting until the host counts as lost…\n`);
  const end = Date.now() + (revoked ? LOST_WITHIN_MS : 0);
  for (;;) {
    try {
      await api.call({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}` });
      terminal.err.write(`${id} was removed. Its agents have failed.\n`);
      return;
    } catch (error) {
      // A host that never joined had only its credential.
      if (revoked && isRefusal(error, 'host_not_found')) return;
      if (!isRefusal(error, 'host_not_lost') || Date.now() >= end) throw error;
      await sleep(RETRY_MS);
    }
  }
};

const isRefusal = (error: unknown, code: string): boolean =>
  error instanceof CliError && error.message.includes(code);

const list = async (api: ApiClient): Promise<readonly HostView[]> => {
  const items: HostView[] = [];
  for (let query = `limit=${PAGE}`; query !== '';) {
    const page = await api.call<Page<HostView>>({ method: 'GET', path: `${PATH}?${query}` });
    items.push(...page.items);
    query = page.nextCursor === null ? '' : `limit=${PAGE}&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return items;
};

const tableOf = (items: readonly HostView[]): string =>
  formatTable(
    ['ID', 'NAME', 'STATE', 'DRIVER', 'MEMORY FREE', 'DISK FREE', 'AWAKE', 'WARM', 'COLD', 'LAST SEEN'],
    items.map(({ id, name, state, driver, memMb, diskGb, agents, lastSeenAt }) => [
      id,
      name,
      state,
      driver,
      `${memMb.free} of ${memMb.total} MB`,
      `${diskGb.free} of ${diskGb.total} GB`,
      String(agents.awake),
      String(agents.warm),
      String(agents.cold),
      lastSeenAt,
    ]),
  );
