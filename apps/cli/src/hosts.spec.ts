import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const host = (id: string, state = 'ready') => ({
  id,
  name: `name of ${id}`,
  driver: 'process',
  version: '1.0.0',
  state,
  agents: { awake: 3, warm: 14, cold: 159 },
  memMb: { total: 2_000, free: 1_000 },
  diskGb: { total: 20, free: 10 },
  runtimeClasses: [],
  lastSeenAt: '2026-11-22T08:00:00.000Z',
});

const refusal = (status: number, code: string) => (): ServiceResponse => ({
  status,
  body: { detail: { code, message: 'It was refused.' } },
});

describe('berth hosts', () => {
  it('lists every host, page by page', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=next')
        ? { items: [host('hst_2', 'lost')], nextCursor: null }
        : { items: [host('hst_1')], nextCursor: 'next' },
    });
    const result = await berth(['hosts', 'list'], { respond });
    expect(result.exitCode).toBe(0);
    for (const text of ['hst_1', 'hst_2', 'lost', '1000 of 2000 MB', '10 of 20 GB', '159'])
      expect(result.out).toContain(text);
    const json = await berth(['hosts', 'list', '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual([host('hst_1'), host('hst_2', 'lost')]);
  });

  it.each(['drain', 'resume'])('%ss one', async (verb) => {
    const result = await berth(['hosts', verb, 'hst_1'], { respond: () => ({ status: 202, body: '' }) });
    expect(result).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'POST', url: `/api/v1/operations/hosts/hst_1/${verb}` }],
    });
  });

  it('removes a lost host without a credential at once', async () => {
    const result = await berth(['hosts', 'remove', 'hst_1'], { respond: () => ({ status: 204 }) });
    expect(result).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'DELETE', url: '/api/v1/operations/hosts/hst_1' }],
    });
  });

  it('exits 1 for a host that is not lost, without a second request', async () => {
    const result = await berth(['hosts', 'remove', 'hst_1'], { respond: refusal(409, 'host_not_lost') });
    expect(result.exitCode).toBe(1);
    expect(result.seen).toHaveLength(1);
    expect(result.err).toContain('host_not_lost');
  });

  it('exits 3 when it cannot add a host because no Berth runs on this machine', async () => {
    const result = await berth(['hosts', 'add', 'one'], { respond: () => ({ status: 500 }) });
    expect(result.exitCode).toBe(3);
    expect(result.err).toContain('hosts.sock');
    expect(result.out).toBe('');
  });
});
