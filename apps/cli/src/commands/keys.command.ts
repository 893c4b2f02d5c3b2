import { SCOPES, type KeyView, type MintedKey, type Scope } from '@berth/contracts/accounts';
import type { Page } from '@berth/kernel';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { formatTable, printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const PAGE = 200;

/** `berth keys mint|list|revoke|recover` */
export const keysCommand = (
  api: () => ApiClient,
  recover: () => Promise<MintedKey>,
  terminal: Terminal,
): Command => {
  const keys = new Command('keys').description('API keys of the account (scope manage)');
  keys.addCommand(mintCommand(api, terminal));
  keys.addCommand(listCommand(api, terminal));
  keys.addCommand(revokeCommand(api, terminal));
  keys.addCommand(recoverCommand(recover, terminal));
  return keys;
};

interface MintOptions {
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly expiresAt?: string;
  readonly json?: true;
}

const mintCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('mint')
    .description('mint a key and print it once')
    .requiredOption('--name <name>', 'purpose of the key, 1 to 128 characters')
    .addOption(
      new Option('--scope <scope>', `repeatable; one of ${SCOPES.join(', ')}; every key has read`)
        .argParser(gatherScopes)
        .default([], 'read'),
    )
    .option('--expires-at <time>', 'ISO 8601; without it the key is valid until it is revoked', parseTime)
    .option('--json', 'print the whole response as JSON')
    .action(async (options: MintOptions) => {
      const minted = await api().call<MintedKey>({
        method: 'POST',
        path: '/api/v1/keys',
        body: {
          name: options.name,
          scopes: options.scope.length === 0 ? ['read'] : options.scope,
          ...(options.expiresAt === undefined ? {} : { expiresAt: options.expiresAt }),
        },
      });
      if (options.json === true) {
        terminal.out.write(`${JSON.stringify(minted, null, 2)}\n`);
        return;
      }
      showOnce(minted, terminal);
    });

const recoverCommand = (recover: () => Promise<MintedKey>, terminal: Terminal): Command =>
  new Command('recover')
    .description('mint a key with every scope, without a key, on the host that runs Berth (needs BERTH_DATA)')
    .action(async () => showOnce(await recover(), terminal));

/** Only the key goes to standard output, so that a script can capture it. */
const showOnce = (minted: MintedKey, terminal: Terminal): void => {
  terminal.out.write(`${minted.key}\n`);
  terminal.err.write(
    `Key ${minted.id} (${printable(minted.name)}) with ${minted.scopes.join(', ')}. It is not shown again.\n`,
  );
};

const listCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('list')
    .description('all keys, newest first')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const keys = await allKeys(api());
      terminal.out.write(options.json === true ? `${JSON.stringify(keys, null, 2)}\n` : tableOf(keys));
    });

const revokeCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('revoke')
    .description('revoke a key; takes effect immediately')
    .argument('<id>', 'key_…')
    .action(async (id: string) => {
      await api().call({ method: 'DELETE', path: `/api/v1/keys/${encodeURIComponent(id)}` });
      terminal.err.write(`Key ${printable(id)} was revoked.\n`);
    });

const allKeys = async (api: ApiClient): Promise<readonly KeyView[]> => {
  const keys: KeyView[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<KeyView> = await api.call({ method: 'GET', path: `/api/v1/keys?limit=${PAGE}${after}` });
    keys.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return keys;
};

const tableOf = (keys: readonly KeyView[]): string =>
  formatTable(
    ['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'],
    keys.map((key) => [
      key.id,
      key.name,
      key.scopes.join(','),
      key.createdAt,
      key.lastUsedAt ?? '-',
      key.expiresAt ?? '-',
      key.revokedAt ?? '-',
    ]),
  );

const gatherScopes = (value: string, earlier: readonly Scope[]): readonly Scope[] => {
  const scope = SCOPES.find((candidate) => candidate === value);
  if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${SCOPES.join(', ')}.`);
  return [...new Set([...earlier, scope])];
};

const parseTime = (value: string): string => {
  const time = Date.parse(value);
  if (Number.isNaN(time)) throw new InvalidArgumentError('Give a time as 2027-01-31T12:00:00Z.');
  return new Date(time).toISOString();
};
