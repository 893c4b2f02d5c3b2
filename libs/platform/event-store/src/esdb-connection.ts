import { EventStoreDBClient, type Credentials } from '@eventstore/db-client';

/** The clients behind the port, and the credentials that each call carries. */
export interface EsdbConnection {
  /** Appends and reads. */
  readonly calls: EventStoreDBClient;
  /** Subscriptions, on a TCP connection of their own. */
  readonly feeds: EventStoreDBClient;
  readonly credentials: Credentials;
}

const PARTS = /^esdb(?:\+discover)?:\/\/(?:([^:@/]+):([^@/]+)@)?[^?]+(?:\?(.*))?$/;

/** Opens no connection yet. Throws, without repeating the URL, when it is none. */
export const esdbConnection = (url: string): EsdbConnection => {
  const match = PARTS.exec(url.trim());
  if (match === null) throw new Error('Not an event store URL (esdb://host:port?tls=false).');
  const [, username, password, query = ''] = match;
  const given = new URLSearchParams(query);
  if (given.get('tls') !== 'false' && username === undefined) {
    throw new Error('An event store URL with TLS needs esdb://user:password@….');
  }
  return {
    calls: client(url, given, { keepAliveInterval: 10_000, keepAliveTimeout: 5_000 }),
    // Other channel options keep gRPC from sharing one TCP connection, on which a slow reader could hold up appends.
    feeds: client(url, given, { keepAliveInterval: 10_000, keepAliveTimeout: 5_001 }),
    // A call with credentials of its own is sent as a unary append. Without TLS the client drops them on the way.
    credentials: {
      username: decodeURIComponent(username ?? 'none'),
      password: decodeURIComponent(password ?? 'none'),
    },
  };
};

const client = (
  url: string,
  given: URLSearchParams,
  defaults: Record<string, number>,
): EventStoreDBClient => {
  const missing = Object.entries(defaults).filter(([name]) => !given.has(name));
  const extra = missing.map(([name, value]) => `${name}=${value}`).join('&');
  const base = url.trim();
  try {
    return EventStoreDBClient.connectionString(
      extra === '' ? base : `${base}${base.includes('?') ? '&' : '?'}${extra}`,
    );
  } catch {
    throw new Error('Not an event store URL (esdb://host:port?tls=false).');
  }
};
