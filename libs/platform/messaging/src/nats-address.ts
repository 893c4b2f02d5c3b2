/** Servers and credentials out of NATS_URL. */
export interface NatsAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls: boolean;
}

/**
 * Reads `nats://user:password@host:port` (`tls://` for TLS, `nats://token@host` for a token), several separated by
 * commas for a cluster; the first that carries credentials gives them.
 */
export const parseNatsUrl = (url: string): NatsAddress => {
  const parts = url.split(',').map((part) => new URL(part.trim()));
  const holder = parts.find((part) => part.username !== '');
  const user = decodeURIComponent(holder?.username ?? '');
  const pass = decodeURIComponent(holder?.password ?? '');
  const credentials = user === '' ? {} : pass === '' ? { token: user } : { user, pass };
  return {
    servers: parts.map((part) => `${part.hostname}:${part.port === '' ? '4222' : part.port}`),
    tls: parts.some((part) => part.protocol === 'tls:'),
    ...credentials,
  };
};
