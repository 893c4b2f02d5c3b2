import { isExternalUserId } from '@berth/contracts/schema';
import { Argument, InvalidArgumentError } from 'commander';

export const END_USERS_PATH = '/api/v1/end-users';

/** The path of an end user's own resource. */
export const endUserPath = (externalId: string): string =>
  `${END_USERS_PATH}/${encodeURIComponent(externalId)}`;

/** The argument that names an end user. */
export const endUserArgument = (): Argument =>
  new Argument('<external-id>', 'your own id of the end user').argParser(parseExternalId);

/** In a URL `.` and `..` name a folder however they are encoded, so the request would reach another resource. */
const parseExternalId = (text: string): string => {
  if (!isExternalUserId(text))
    throw new InvalidArgumentError('An external id has 1 to 128 letters, digits and _ @ . : + -.');
  if (text === '.' || text === '..')
    throw new InvalidArgumentError('No URL can contain this external id as a path segment.');
  return text;
};
