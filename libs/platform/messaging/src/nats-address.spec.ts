import { describe, expect, it } from 'vitest';
import { parseNatsUrl } from './nats-address.js';

describe('NATS_URL', () => {
  it.each([
    ['nats://h', { servers: ['h:4222'], tls: false }],
    ['nats://u:p@h1:4222,h2:4333', { servers: ['h1:4222', 'h2:4333'], user: 'u', pass: 'p', tls: false }],
    ['nats://u:p@h1 , h2,  nats://h3:1', { servers: ['h1:4222', 'h2:4222', 'h3:1'], user: 'u', pass: 'p' }],
    ['nats://h1,nats://u:p%40ss%3A@h2', { servers: ['h1:4222', 'h2:4222'], user: 'u', pass: 'p@ss:' }],
    ['tls://token@h', { servers: ['h:4222'], token: 'token', tls: true }],
    ['nats://[::1]:4000,[fe80::2]', { servers: ['[::1]:4000', '[fe80::2]:4222'] }],
    ['NATS://h/', { servers: ['h:4222'] }],
  ])('may be %s', (url, address) => expect(parseNatsUrl(url)).toMatchObject(address));

  it.each(['', 'nats://', 'nats://h,,i', 'nats://h?x=1'])('may not be "%s"', (url) =>
    expect(() => parseNatsUrl(url)).toThrow(/NATS_URL must list addresses/),
  );
});
