import { createHash } from 'node:crypto';
import { isWellFormedKey } from '@berth/contracts/accounts';
import { SECRET_PREFIXES } from '@berth/kernel';

/** SHA-256 of a key, hex: what travels and what is stored instead of the key. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The well-formed API key of an `Authorization` header, or undefined. */
export const keyOf = (authorization: string | undefined): string | undefined => {
  const credential = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  return credential !== undefined && isWellFormedKey(credential) ? credential : undefined;
};

/** Long enough that nobody's name or label is taken for one. */
const CREDENTIAL = new RegExp(
  `^(?:${SECRET_PREFIXES.apiKey}|${SECRET_PREFIXES.endUserToken})_[0-9A-Za-z]{20,}$`,
);

/**
 * Whether a query carries a credential: the member `token`, or a key or token under any name. Addresses end up in
 * histories and logs of others, so such a request is refused even when it is otherwise authenticated.
 */
export const hasCredential = (query: unknown): boolean => {
  if (typeof query !== 'object' || query === null) return false;
  return Object.entries(query).some(
    ([name, value]) =>
      name === 'token' || [value].flat().some((text) => typeof text === 'string' && CREDENTIAL.test(text)),
  );
};
