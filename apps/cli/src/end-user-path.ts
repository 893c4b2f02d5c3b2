import { isExternalUserId } from '@berth/contracts/schema';
import { Argument, InvalidArgumentError } from 'commander';

export const END_USERS_PATH = '/api/v1/end-users';

/** The path of an end user's own resource. */
export const endUserPath = (externalId: string): string =>
  `${END_USERS_PATH}/${encodeURIComponent(externalId)}`;

/** The argument that names an end user. */
export const endUserArgument = (): Argument =>
  new Argument('<external-id>', 'your own id of the end user').argParser(parseExternalId);

const parseExternalId = (text: string): string => {
  if (!isExternalUserId(text))
    throw new InvalidArgumentError(
      'An external id has 1 to 128 letters, digits and _ @ . : + -, and is neither . nor ..',
    );
  return text;
};
