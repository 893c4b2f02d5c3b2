import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { addressOf, ConfigError, readEnv } from './index.js';
import type { PartUrlName } from './part-urls.js';

const complaintAbout = (name: PartUrlName, url: string): string | undefined => {
  const reader = readEnv({ [name]: url });
  reader.partUrl(name);
  try {
    reader.done();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return String(error instanceof Error ? error.message : error);
  }
};

const FILE = fileURLToPath(import.meta.url);

describe('the URLs of the backing services', () => {
  it.each([
    ['EVENTSTORE_URL', 'esdb://localhost:2113?tls=false'],
    ['EVENTSTORE_URL', 'esdb://localhost?tls=false'],
    ['EVENTSTORE_URL', 'esdb://admin:changeit@node-1:2113'],
    ['EVENTSTORE_URL', 'esdb://admin:p%40ss@a:1,b:2,c:3/?nodePreference=leader&keepAliveInterval=10000'],
    ['EVENTSTORE_URL', 'esdb+discover://cluster.example:2113?tls=false&maxDiscoverAttempts=3'],
    ['EVENTSTORE_URL', 'esdb://localhost?TLS=false'],
    ['EVENTSTORE_URL', `esdb://u:p@h?tlsCAFile=${FILE}&user-cert-file=${FILE}&userKeyFile=${FILE}`],
    ['NATS_URL', 'nats://localhost'],
    ['NATS_URL', 'nats://u:p@h1:4222,h2:4222, h3:4222'],
    ['NATS_URL', 'tls://token@[::1]:4222'],
    ['DATABASE_URL', 'postgres://u:p%2F@h:5432/berth'],
    ['DATABASE_URL', 'postgresql://u@h/berth?sslmode=require'],
  ] as const)('%s may be %s', (name, url) => {
    expect(complaintAbout(name, url)).toBeUndefined();
  });

  it.each([
    ['EVENTSTORE_URL', 'http://h:2113', /must be a URL such as esdb:/],
    ['EVENTSTORE_URL', 'esdb://h:secret0?tls=false', /must have a port from 1 to 65535/],
    ['EVENTSTORE_URL', 'esdb://h:70000?tls=false', /must have a port from 1 to 65535/],
    ['EVENTSTORE_URL', 'esdb://h:?tls=false', /must have a port from 1 to 65535/],
    ['EVENTSTORE_URL', 'esdb://h:2113', /must name a user/],
    ['EVENTSTORE_URL', 'esdb://admin@h:2113', /must name its user as user:password@/],
    ['EVENTSTORE_URL', 'esdb://admin:s%ecret@h:2113', /percent-encoded/],
    ['EVENTSTORE_URL', 'esdb://h:2113?tls=no', /has an invalid value for the option tls/],
    ['EVENTSTORE_URL', 'esdb://h:2113?tsl=false', /has an unknown option/],
    ['EVENTSTORE_URL', 'esdb://?tls=false', /must name a host/],
    ['EVENTSTORE_URL', 'esdb://a:1,,b:2?tls=false', /must name a host/],
    ['EVENTSTORE_URL', 'esdb://[::1]:2113?tls=false', /accepts no IPv6 addresses/],
    ['EVENTSTORE_URL', 'esdb://a;b?tls=false', /must name a host/],
    ['EVENTSTORE_URL', 'esdb://u:p@h?tlsCAFile=/no/such/file', /readable file in the option tlsCAFile/],
    ['EVENTSTORE_URL', `esdb://u:p@h?userCertFile=${FILE}`, /userCertFile and userKeyFile together/],
    [
      'EVENTSTORE_URL',
      'esdb://h?tls=false&keepAliveInterval=-5',
      /invalid value for the option keepAliveInterval/,
    ],
    [
      'EVENTSTORE_URL',
      'esdb://h?tls=false&defaultDeadline=0',
      /invalid value for the option defaultDeadline/,
    ],
    ['NATS_URL', 'nats://:secret@h', /must name its user/],
    ['NATS_URL', 'nats://h#x:4222', /must name a host/],
    ['DATABASE_URL', 'postgres://u:secret@[::1]/a b', /percent-encoded/],
    ['DATABASE_URL', 'postgres://u:secret@h%', /percent-encoded/],
    ['NATS_URL', 'localhost:4222', /must be a URL that begins with nats:/],
    ['NATS_URL', 'nats://h:99999', /must have a port from 1 to 65535/],
    ['NATS_URL', 'nats://u:secret@h:4222,', /must name a host/],
    ['NATS_URL', 'nats://u:secret@h:4222?x=1', /must list addresses/],
    ['NATS_URL', 'nats://u:sec%ret@h:4222', /percent-encoded/],
    ['DATABASE_URL', 'mysql://h/berth', /must be a URL that begins with postgres:/],
    ['DATABASE_URL', 'postgres://u:secret@h:port/berth', /must be a URL such as postgres:/],
    ['DATABASE_URL', 'postgres://u:sec%ret@h/berth', /percent-encoded/],
    ['DATABASE_URL', 'postgres:///berth', /must name a host/],
  ] as const)('%s may not be %s', (name, url, complaint) => {
    const message = complaintAbout(name, url);
    expect(message).toMatch(complaint);
    expect(message).toContain(name);
    expect(message).not.toMatch(/secret|sec%ret|s%ecret/);
  });
});

describe('the address of a part in messages', () => {
  it.each([
    ['postgres://u:pass@h:5432/berth?application_name=a@b', 'h:5432'],
    ['postgres://u:se@cret@h:5432/berth', 'h:5432'],
    ['postgres://u:se,cret@h/berth', 'h'],
    ['esdb://u:se,cret@a:1,b:2/?tls=false', 'a:1, b:2'],
    ['esdb+discover://u:secret@h?connectionName=a@b', 'h'],
    ['nats://u:secret@a:1, b:2,nats://v:secret@c', 'a:1, b:2, c'],
    ['tls://token@[::1]:4222', '[::1]:4222'],
  ])('of %s is %s', (url, address) => {
    expect(addressOf(url)).toBe(address);
  });
});
