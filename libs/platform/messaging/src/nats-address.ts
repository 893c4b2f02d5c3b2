import { readFileSync } from 'node:fs';
import {
  credsAuthenticator,
  nkeyAuthenticator,
  type Authenticator,
  type ConnectionOptions,
  type TlsOptions,
} from '@nats-io/transport-node';

/** Servers and credentials from NATS_URL. */
export interface NatsAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls: boolean;
}

/** Files in addition to the URL: see `BrokerCredentials` of the configuration. */
export interface NatsCredentials {
  readonly creds?: string;
  readonly nkey?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const ADDRESS =
  /^(?:(?<scheme>nats|tls):\/\/)?(?:(?<user>[^:@]*)(?::(?<pass>[^@]*))?@)?(?<host>\[[^\]]+\]|[^:/?#@\s]+)(?::(?<port>\d+))?\/?$/i;

/**
 * Reads `nats://user:password@host:port` (`tls://` for TLS, `nats://token@host` for a token), several separated by
 * commas for a cluster. All but the first may omit the scheme; the first credentials found apply to
 * all of them.
 */
export const parseNatsUrl = (url: string): NatsAddress => {
  const parts = url.split(',').map((text) => {
    const groups = ADDRESS.exec(text.trim())?.groups;
    if (groups === undefined)
      throw new Error('NATS_URL must list addresses such as nats://user:password@host:4222.');
    return groups;
  });
  const holder = parts.find(({ user }) => user !== undefined && user !== '');
  const user = decodeURIComponent(holder?.['user'] ?? '');
  const pass = decodeURIComponent(holder?.['pass'] ?? '');
  const credentials = user === '' ? {} : pass === '' ? { token: user } : { user, pass };
  return {
    servers: parts.map(({ host = '', port = '4222' }) => `${host}:${port}`),
    tls: parts.some(({ scheme }) => scheme?.toLowerCase() === 'tls'),
    ...credentials,
  };
};

/** Returns the client's options for address and credentials. Files are read at each connect, so they can be renewed. */
export const accessOptions = (url: string, files: NatsCredentials = {}): ConnectionOptions => {
  const { tls, ...address } = parseNatsUrl(url);
  const authenticator = authenticatorOf(files);
  const { ca, cert, key } = files;
  const certificates: TlsOptions = {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined || key === undefined ? {} : { certFile: cert, keyFile: key }),
  };
  const encrypted = tls || Object.keys(certificates).length > 0;
  return {
    ...address,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(encrypted ? { tls: certificates } : {}),
  };
};

const authenticatorOf = ({ creds, nkey }: NatsCredentials): Authenticator | undefined => {
  if (creds !== undefined) return credsAuthenticator(() => readFileSync(creds));
  if (nkey !== undefined) return nkeyAuthenticator(() => Buffer.from(readFileSync(nkey, 'utf8').trim()));
  return undefined;
};
