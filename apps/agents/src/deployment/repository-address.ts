import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress, refused, type RepositoryUrl } from './repository-url.js';

const ANSWERED_WITHIN_MS = 5_000;

/**
 * Resolves the host of a repository, once: the clone uses these addresses and no others. `[]` if it has none now. Errors:
 * invalid `repo_url_refused` if one of them is not public.
 */
export const resolveRepository = async ({ host, insecure }: RepositoryUrl): Promise<readonly string[]> => {
  const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
  if (!insecure && !addresses.every(isPublicAddress))
    throw refused('The host of the URL has a private address.');
  return addresses;
};

/** A host that cannot be resolved now may be resolved later: the clone reports it. */
const addressesOf = async (host: string): Promise<readonly string[]> => {
  const late = new Promise<readonly string[]>((resolve) => {
    setTimeout(() => resolve([]), ANSWERED_WITHIN_MS).unref();
  });
  const found = lookup(host, { all: true }).then(
    (answers) => answers.map(({ address }) => address),
    () => [],
  );
  return Promise.race([found, late]);
};
