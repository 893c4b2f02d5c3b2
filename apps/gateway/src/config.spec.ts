import { describe, expect, it } from 'vitest';
import { readGatewayConfig } from './config.js';

const ENV = {
  NATS_URL: 'nats://127.0.0.1:4222',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
  DATABASE_URL: 'postgres://127.0.0.1/berth',
  BERTH_SECRET_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

describe('the address it listens on', () => {
  it('is the loopback address while agents share the machine', () => {
    expect(readGatewayConfig(ENV)).toMatchObject({ host: '127.0.0.1', port: 8080, runtime: 'process' });
  });

  it.each([{ BERTH_RUNTIME: 'nerdctl' }, { BERTH_ALLOW_UNISOLATED: '1' }])(
    'is every interface with %j',
    (more) => {
      expect(readGatewayConfig({ ...ENV, ...more }).host).toBe('0.0.0.0');
    },
  );

  it('is the configured value', () => {
    const config = readGatewayConfig({ ...ENV, BERTH_HOST: '::1', PORT: '0', BERTH_RUNTIME: 'nerdctl' });
    expect(config).toMatchObject({ host: '::1', port: 0 });
  });
});

describe('the limits of clients', () => {
  it('default to 60 s, and to at most half of the file descriptors', () => {
    const { clientTimeoutMs, maxConnections } = readGatewayConfig(ENV);
    expect(clientTimeoutMs).toBe(60_000);
    expect(maxConnections).toBeGreaterThan(0);
    expect(maxConnections).toBeLessThanOrEqual(10_000);
  });

  it('are the configured values', () => {
    const configured = { BERTH_CLIENT_TIMEOUT_SECONDS: '5', BERTH_MAX_CONNECTIONS: '7' };
    expect(readGatewayConfig({ ...ENV, ...configured })).toMatchObject({
      clientTimeoutMs: 5_000,
      maxConnections: 7,
    });
    expect(() => readGatewayConfig({ ...ENV, BERTH_MAX_CONNECTIONS: '0' })).toThrow('BERTH_MAX_CONNECTIONS');
  });
});

describe('a bad environment', () => {
  it('is reported with every bad variable, without values', () => {
    const bad = { ...ENV, PORT: '80800', BERTH_RUNTIME: 'docker', BERTH_SECRET_KEY: 'k1:c2hvcnQ=' };
    const read = (): unknown => readGatewayConfig(bad);
    expect(read).toThrow(/PORT.*BERTH_RUNTIME.*BERTH_SECRET_KEY|BERTH_RUNTIME.*PORT.*BERTH_SECRET_KEY/s);
    expect(read).not.toThrow(/c2hvcnQ/);
  });

  it('is one without BERTH_SECRET_KEY', () => {
    expect(() => readGatewayConfig({ ...ENV, BERTH_SECRET_KEY: undefined })).toThrow('BERTH_SECRET_KEY');
  });
});
