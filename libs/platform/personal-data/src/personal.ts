import type { PersonalKey } from './personal-key.js';

/**
 * Data that is personal if it belongs to an end user: an event then holds it sealed under the key of that end user, and
 * otherwise in plaintext.
 */
export type Personal<Data> =
  | { readonly endUserId: null; readonly data: Data }
  | { readonly endUserId: string; readonly sealed: string };

/** `key`: of the end user to whom the data belongs; null if it belongs to none. `about`: see `PersonalKey`. */
export const toPersonal = <Data>(key: PersonalKey | null, about: string, data: Data): Personal<Data> =>
  key === null ? { endUserId: null, data } : { endUserId: key.endUserId, sealed: key.seal(about, data) };

/** Returns the data; null if it is sealed and `key` is not there, because it was destroyed. */
export const fromPersonal = <Data>(
  key: PersonalKey | null | undefined,
  about: string,
  personal: Personal<Data>,
): Data | null => {
  if (personal.endUserId === null) return personal.data;
  return key === null || key === undefined ? null : (key.open(about, personal.sealed) as Data);
};
