import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isReadable } from './readable-file.js';

/** Files with which a service authenticates to the broker and verifies the broker's certificate. */
export interface BrokerCredentials {
  /** A `.creds` file: a user's JWT and the seed of its key. */
  readonly creds?: string;
  /** A file with an nkey seed. */
  readonly nkey?: string;
  /** CA certificates to verify the broker's certificate with. */
  readonly ca?: string;
  /** The client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

const CREDS = /NATS USER JWT[\s\S]+USER NKEY SEED/;
const SEED = /^\s*SU[A-Z2-7]{56}\s*$/;
/** Whether any of the addresses contains a user or a token. */
const HAS_USER = /^[^,]*@|,[^,]*@/;

interface Reader {
  optional(name: string): string | undefined;
  problem(name: string, what: string): void;
}

/**
 * Reads NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT and NATS_KEY: file paths, with the meaning they have for the `nats`
 * command.
 */
export const readBrokerCredentials = (reader: Reader, natsUrl: string | undefined): BrokerCredentials => {
  const file = (name: string, text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    const path = resolve(text.trim());
    if (isReadable(path)) return path;
    reader.problem(name, 'must name a file that can be read');
    return undefined;
  };
  const checkContent = (name: string, path: string | undefined, form: RegExp, what: string): void => {
    if (path !== undefined && !form.test(readFileSync(path, 'utf8'))) reader.problem(name, what);
  };
  const creds = file('NATS_CREDS', reader.optional('NATS_CREDS'));
  const nkey = file('NATS_NKEY', reader.optional('NATS_NKEY'));
  const ca = file('NATS_CA', reader.optional('NATS_CA'));
  const cert = file('NATS_CERT', reader.optional('NATS_CERT'));
  const key = file('NATS_KEY', reader.optional('NATS_KEY'));
  checkContent('NATS_CREDS', creds, CREDS, 'must name a .creds file with a user JWT and an nkey seed');
  checkContent('NATS_NKEY', nkey, SEED, 'must name a file with the seed of a user nkey (SU…)');
  if ((cert === undefined) !== (key === undefined))
    reader.problem('NATS_CERT', 'and NATS_KEY must be set together');
  const ways = [creds !== undefined, nkey !== undefined, HAS_USER.test(natsUrl ?? '')];
  if (ways.filter(Boolean).length > 1)
    reader.problem('NATS_URL', 'with a user, NATS_CREDS and NATS_NKEY are mutually exclusive');
  return {
    ...(creds === undefined ? {} : { creds }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  };
};
