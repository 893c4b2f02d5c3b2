import { mintTokenBody, TOKEN_SCOPES, type MintedToken, type TokenScope } from '@berth/contracts/end-users';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { endUserArgument, endUserPath } from '../end-user-path.js';
import { findAgent } from '../find-agent.js';
import { describeBounds, numberWithin, type NumberBounds } from '../number-within.js';
import type { Terminal } from '../terminal.js';

/** Besides these the service accepts null. */
const TTL: NumberBounds = { ...mintTokenBody.properties.ttlSeconds, type: 'integer' };

interface CreateOptions {
  readonly scope?: readonly TokenScope[];
  readonly ttlSeconds?: number;
  readonly agent?: string;
  readonly json?: true;
}

/** `berth end-users token create|revoke` */
export const tokenCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const token = new Command('token').description('tokens with which an end user uses one of its agents');
  token.addCommand(createCommand(api, terminal));
  token.addCommand(revokeCommand(api, terminal));
  return token;
};

const createCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('create')
    .description('mint a token and print it once (scopes manage and deploy; for logs alone, manage)')
    .addArgument(endUserArgument())
    .addOption(
      new Option(
        '--scope <scope>',
        `repeatable; one of ${TOKEN_SCOPES.join(', ')}; without it, chat`,
      ).argParser(gatherScopes),
    )
    .option('--ttl-seconds <seconds>', `${describeBounds(TTL)}; without it, 900`, numberWithin(TTL))
    .option('--agent <agent>', 'id or name; needed if the end user has more than one agent')
    .option('--json', 'print the whole response as JSON')
    .action(async (externalId: string, options: CreateOptions) => {
      const minted = await mint(api(), externalId, options);
      if (options.json === true) terminal.out.write(`${JSON.stringify(minted, null, 2)}\n`);
      else showOnce(minted, terminal);
    });

const mint = async (
  api: ApiClient,
  externalId: string,
  { scope, ttlSeconds, agent }: CreateOptions,
): Promise<MintedToken> =>
  api.call<MintedToken>({
    method: 'POST',
    path: `${endUserPath(externalId)}/tokens`,
    body: {
      ...(scope === undefined ? {} : { scopes: scope }),
      ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
      ...(agent === undefined ? {} : { agentId: await findAgent(api, agent) }),
    },
  });

/** Only the token goes to standard output, so that a script can capture it. */
const showOnce = ({ token, agentId, scopes, expiresAt }: MintedToken, terminal: Terminal): void => {
  terminal.out.write(`${token}\n`);
  terminal.err.write(
    `Token for ${agentId} with ${scopes.join(', ')} until ${expiresAt}. It is not shown again.\n`,
  );
};

const revokeCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('revoke')
    .description('revoke all tokens of an end user; takes effect immediately')
    .addArgument(endUserArgument())
    .action(async (externalId: string) => {
      const path = `${endUserPath(externalId)}/tokens`;
      const { revoked } = await api().call<{ readonly revoked: number }>({ method: 'DELETE', path });
      terminal.err.write(`Tokens of ${externalId} revoked: ${revoked}.\n`);
    });

const gatherScopes = (value: string, earlier: readonly TokenScope[] = []): readonly TokenScope[] => {
  const scope = TOKEN_SCOPES.find((candidate) => candidate === value);
  if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${TOKEN_SCOPES.join(', ')}.`);
  return [...new Set([...earlier, scope])];
};
