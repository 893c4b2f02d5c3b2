import type { EndUserView, MetadataValue, PutEndUserBody } from '@berth/contracts/end-users';
import { Command, InvalidArgumentError } from 'commander';
import type { ApiClient } from '../api-client.js';
import { endUserArgument, endUserPath } from '../end-user-path.js';
import type { Terminal } from '../terminal.js';

/** False: cleared by the `--no-` form of the option. */
interface PutOptions {
  readonly displayName?: string | false;
  readonly metadata?: Readonly<Record<string, MetadataValue>> | false;
  readonly tag?: readonly string[] | false;
  readonly json?: true;
}

/** `berth end-users put` */
export const putCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('put')
    .description('create an end user or change one; what is not given is kept')
    .addArgument(endUserArgument())
    .option('--display-name <name>', 'up to 256 characters')
    .option('--no-display-name', 'clear it')
    .option('--metadata <json>', 'an object that replaces the whole', parseMetadata)
    .option('--no-metadata', 'clear it')
    .option('--tag <tag>', 'repeatable; together they replace all tags', gatherTags)
    .option('--no-tag', 'clear the tags')
    .option('--json', 'print the end user as JSON')
    .action(async (externalId: string, { displayName, metadata, tag, json }: PutOptions) => {
      const body: PutEndUserBody = {
        ...(displayName === undefined ? {} : { displayName: orNull(displayName) }),
        ...(metadata === undefined ? {} : { metadata: orNull(metadata) }),
        ...(tag === undefined ? {} : { tags: tag === false ? null : [...tag] }),
      };
      const written = await api().call<EndUserView>({ method: 'PUT', path: endUserPath(externalId), body });
      if (json === true) terminal.out.write(`${JSON.stringify(written, null, 2)}\n`);
      else terminal.err.write(`${externalId} was saved.\n`);
    });

const orNull = <Value>(value: Value | false): Value | null => (value === false ? null : value);

const gatherTags = (value: string, earlier: readonly string[] | false | undefined): readonly string[] => [
  ...(earlier === undefined || earlier === false ? [] : earlier),
  value,
];

/** The service checks the members. */
const parseMetadata = (text: string): Record<string, MetadataValue> => {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, MetadataValue>;
  throw new InvalidArgumentError('Give a JSON object such as {"plan":"pro"}.');
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
