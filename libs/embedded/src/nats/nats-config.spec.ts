import { describe, expect, it } from 'vitest';
import { parseVersion } from './nats-binary.js';
import { natsConfig } from './nats-config.js';

const where = { host: '127.0.0.1', port: 4001, storeDir: '/d/nats', storeBytes: 1_000_000 };
const input = { ...where, serverName: 'one', users: [] };

describe('the configuration of the broker', () => {
  it('syncs to disk before it acknowledges, where the server can', () => {
    expect(natsConfig({ ...input, version: [2, 10, 0] })).toContain('sync_interval: always');
    expect(natsConfig({ ...input, version: [3, 0, 0] })).toContain('sync_interval: always');
  });

  it('omits settings with which an older server would refuse to start', () => {
    expect(natsConfig({ ...input, version: [2, 9, 10] })).not.toContain('sync_interval');
  });

  it('listens on one address only', () => {
    expect(natsConfig({ ...input, version: [2, 9, 10] })).toContain('host: "127.0.0.1"');
  });
});

describe('the version of a nats-server', () => {
  it('is parsed from its output, with or without the v', () => {
    expect(parseVersion('nats-server: v2.9.10\n')).toEqual([2, 9, 10]);
    expect(parseVersion('nats-server 2.12.3')).toEqual([2, 12, 3]);
  });

  it('counts as the oldest when the output contains none', () => {
    expect(parseVersion('')).toEqual([0, 0, 0]);
  });
});
