import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const act = (id: string) => ({
  id,
  at: '2026-11-23T08:00:00.000Z',
  actor: { kind: 'key', id: 'key_1' },
  action: 'agent.create',
  resource: { type: 'agent', id: 'agt_1' },
  requestId: null,
  outcome: 'ok',
  details: { templateId: 'echo' },
});

describe('berth audit', () => {
  it('prints the newest acts that fit the filters, page by page up to the limit', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=next')
        ? { items: [act('aud_1')], nextCursor: 'more' }
        : { items: [act('aud_3'), act('aud_2')], nextCursor: 'next' },
    });
    const options = ['--actor', 'key_1', '--action', 'agent.create', '--from', '2026-11-23', '--limit', '3'];
    const result = await berth(['audit', ...options, '--json'], { respond });
    expect(result.exitCode).toBe(0);
    expect(JSON.parse(result.out)).toEqual([act('aud_3'), act('aud_2'), act('aud_1')]);
    const filters = 'actor=key_1&action=agent.create&from=2026-11-23';
    expect(result.seen.map(({ url }) => url)).toEqual([
      `/api/v1/audit?limit=3&${filters}`,
      `/api/v1/audit?limit=1&${filters}&cursor=next`,
    ]);
    const table = await berth(['audit', '--limit', '2'], { respond });
    for (const shown of ['key key_1', 'agent.create', 'agt_1', '"templateId":"echo"'])
      expect(table.out).toContain(shown);
  });

  it('refuses an unknown action without a request', async () => {
    const result = await berth(['audit', '--action', 'agent.dance'], { respond: () => ({ status: 500 }) });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
  });
});
