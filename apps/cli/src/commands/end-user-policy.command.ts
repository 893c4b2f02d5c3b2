import type { EndUserPolicy } from '@berth/contracts/end-users';
import { policy, type Policy } from '@berth/contracts/schema';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { endUserArgument, endUserPath } from '../end-user-path.js';
import { describeBounds, numberWithin, type NumberBounds } from '../number-within.js';
import { policyTable } from '../output/policy-table.js';
import type { Terminal } from '../terminal.js';

const DEFAULTS_PATH = '/api/v1/end-user-defaults';

type PolicyOptions = Readonly<Record<string, number>>;

interface ReadOptions {
  readonly json?: true;
}

/** `berth end-users policy get|set|delete` */
export const policyCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const command = new Command('policy').description('the policy that an end user has of its own');
  command.addCommand(
    getCommand()
      .addArgument(endUserArgument())
      .action(async (externalId: string, options: ReadOptions) => {
        const found = await api().call<EndUserPolicy>({ method: 'GET', path: policyPath(externalId) });
        show(found, options, `${externalId} has no policy of its own.`, terminal);
      }),
  );
  command.addCommand(
    setCommand()
      .addArgument(endUserArgument())
      .action(async (externalId: string, options: PolicyOptions) => {
        const { agentsUpdated } = await api().call<{ readonly agentsUpdated: number }>({
          method: 'PUT',
          path: policyPath(externalId),
          body: { policy: policyOf(options) },
        });
        terminal.err.write(`The policy of ${externalId} is in force. Agents: ${agentsUpdated}.\n`);
      }),
  );
  command.addCommand(
    deleteCommand('remove it; the defaults hold for the end user again')
      .addArgument(endUserArgument())
      .action(async (externalId: string) => {
        await api().call({ method: 'DELETE', path: policyPath(externalId) });
        terminal.err.write(`${externalId} has no policy of its own.\n`);
      }),
  );
  return command;
};

/** `berth end-users defaults get|set|delete` */
export const defaultsCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const command = new Command('defaults').description('the policy of end users who have none of their own');
  command.addCommand(
    getCommand().action(async (options: ReadOptions) => {
      const found = await api().call<Pick<EndUserPolicy, 'policy'>>({ method: 'GET', path: DEFAULTS_PATH });
      show(found, options, 'There are no defaults.', terminal);
    }),
  );
  command.addCommand(
    setCommand().action(async (options: PolicyOptions) => {
      const body = { policy: policyOf(options) };
      await api().call({ method: 'PUT', path: DEFAULTS_PATH, body });
      terminal.err.write('The defaults are in force.\n');
    }),
  );
  command.addCommand(
    deleteCommand('remove it').action(async () => {
      await api().call({ method: 'DELETE', path: DEFAULTS_PATH });
      terminal.err.write('There are no defaults.\n');
    }),
  );
  return command;
};

const getCommand = (): Command =>
  new Command('get').description('print it').option('--json', 'print it as JSON');

const deleteCommand = (description: string): Command => new Command('delete').description(description);

const setCommand = (): Command => {
  const command = new Command('set').description(
    'replace the whole policy; a member that is not given limits nothing',
  );
  for (const member of MEMBERS) command.addOption(optionOf(member));
  return command;
};

const policyPath = (externalId: string): string => `${endUserPath(externalId)}/policy`;

const MEMBERS = Object.keys(policy.properties) as readonly (keyof Policy)[];

/** The option of a member of the policy, with the bounds that the service checks. */
const optionOf = (member: keyof Policy): Option => {
  const schema: NumberBounds & { readonly description?: string } = policy.properties[member];
  const description = `${describeBounds(schema)}. ${schema.description?.replaceAll('`', '') ?? ''}`;
  return new Option(`--${member.replaceAll('_', '-')} <number>`, description).argParser(numberWithin(schema));
};

const policyOf = (options: PolicyOptions): Policy =>
  Object.fromEntries(
    MEMBERS.flatMap((member) => {
      const value = options[optionOf(member).attributeName()];
      return value === undefined ? [] : [[member, value]];
    }),
  );

const show = (
  found: Pick<EndUserPolicy, 'policy'>,
  { json }: ReadOptions,
  none: string,
  terminal: Terminal,
): void => {
  if (json === true) terminal.out.write(`${JSON.stringify(found, null, 2)}\n`);
  else if (found.policy === null) terminal.err.write(`${none}\n`);
  else terminal.out.write(policyTable(found.policy));
};
