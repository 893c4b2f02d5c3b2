import type { ServiceHealth } from '@berth/contracts/operations';
import { describe, expect, it } from 'vitest';
import { healthOf, type ProbeResults } from './health.view.js';

const fine: ServiceHealth = { eventStore: true, postgres: true, jetStream: true, deadLetters: 2 };
const host = { host: 'hst_1', driver: 'nerdctl', freeMemMb: 1, agents: 0, logId: null };
const allFine: ProbeResults = {
  connected: true,
  takesOurMessages: true,
  postgres: true,
  disk: 'ok',
  host,
  services: {
    accounts: fine,
    agents: fine,
    files: { eventStore: true, postgres: null, jetStream: null, deadLetters: 0 },
  },
};
const health = (change: Partial<ProbeResults>) =>
  healthOf({ ...allFine, ...change }, { version: '1.0.0', driver: 'process' });
const services = (change: ProbeResults['services']) =>
  health({ services: { ...allFine.services, ...change } });

describe('health', () => {
  it('is ok when every probe succeeded, and counts dead letters of all services', () => {
    expect(health({})).toEqual({
      status: 'ok',
      runtime: 'nerdctl',
      version: '1.0.0',
      dependencies: { nats: 'ok', eventStore: 'ok', postgres: 'ok', runtime: 'ok' },
      disk: 'ok',
      deadLetters: 4,
    });
  });

  it('is degraded while a disk of the gateway or of the host is full, and names it; a low one is only named', () => {
    const onHost = (disk: 'ok' | 'low' | 'full') => health({ host: { ...host, disk } });
    expect(onHost('full')).toMatchObject({ status: 'degraded', disk: 'full' });
    expect(health({ disk: 'full' })).toMatchObject({ status: 'degraded', disk: 'full' });
    expect(onHost('low')).toMatchObject({ status: 'ok', disk: 'low' });
    expect(health({ disk: null })).toMatchObject({ status: 'ok', disk: 'unknown' });
  });

  it('is degraded while probes of one service are lost, although the link is up', () => {
    expect(services({ agents: 'silent' })).toMatchObject({
      status: 'degraded',
      dependencies: { nats: 'degraded' },
      deadLetters: null,
    });
  });

  it('is degraded when the link reconnected to a server that accepts only small messages', () => {
    expect(health({ takesOurMessages: false })).toMatchObject({
      status: 'degraded',
      dependencies: { nats: 'degraded' },
    });
  });

  it('is unavailable when all probes are lost, although the link is up', () => {
    const lost = health({
      host: 'silent',
      services: { accounts: 'silent', agents: 'silent', files: 'silent' },
    });
    expect(lost).toMatchObject({
      status: 'unavailable',
      runtime: 'process',
      dependencies: { nats: 'down', eventStore: 'unknown', postgres: 'ok', runtime: 'down' },
    });
  });

  it('is degraded without one of the services, and unavailable without the one that verifies keys', () => {
    expect(services({ files: 'absent' })).toMatchObject({ status: 'degraded', dependencies: { nats: 'ok' } });
    expect(services({ accounts: 'absent' })).toMatchObject({ status: 'unavailable' });
    expect(services({ accounts: 'silent' })).toMatchObject({
      status: 'unavailable',
      dependencies: { nats: 'degraded' },
    });
    expect(services({ accounts: { ...fine, postgres: false } })).toMatchObject({
      status: 'unavailable',
      dependencies: { postgres: 'degraded' },
    });
  });

  it('is degraded while background work of a service fails, although every dependency responds', () => {
    const agents = {
      ...fine,
      failing: [{ work: 'relay', error: 'The stream is not where the relay left it.' }],
    };
    expect(services({ agents })).toMatchObject({ status: 'degraded', dependencies: health({}).dependencies });
    expect(JSON.stringify(services({ agents }))).not.toContain('relay');
    expect(services({ agents: { ...fine, failing: [] } })).toMatchObject({ status: 'ok' });
  });

  it('reports per dependency whether all, some or none of its users got a response', () => {
    const away: ServiceHealth = { ...fine, eventStore: false, postgres: false, jetStream: false };
    expect(services({ agents: away }).dependencies).toMatchObject({
      nats: 'degraded',
      eventStore: 'degraded',
      postgres: 'degraded',
    });
    const none = services({ accounts: away, agents: away, files: { ...away, postgres: null } });
    expect(none.dependencies).toMatchObject({ eventStore: 'down', postgres: 'degraded' });
    expect(health({ postgres: false })).toMatchObject({ status: 'unavailable' });
  });
});
