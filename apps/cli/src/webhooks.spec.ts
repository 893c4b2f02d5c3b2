import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const AGENT = 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x';
const shown = { token: 'wh_x', url: 'https://berth.example/api/webhooks/a?token=wh_x', createdAt: '' };
const delivery = {
  ...{ id: 'dlv_1', status: 'failed', attempts: 5, createdAt: '2026-11-23T08:00:00.000Z' },
  ...{ deliveredAt: null, bytes: 12, error: { code: 'agent_error', message: 'no\nwords' } },
};

const respond = ({ method, url }: RecordedRequest): ServiceResponse => {
  if (url.startsWith('/api/agents'))
    return { status: 200, body: { items: [{ id: AGENT }], nextCursor: null } };
  if (url.includes('/redeliver')) return { status: 202, body: { deliveryId: 'dlv_2' } };
  if (method === 'GET' && url.includes('/deliveries'))
    return { status: 200, body: { items: [delivery], nextCursor: null } };
  return { status: 200, body: shown };
};

describe('berth webhooks', () => {
  it.each([
    ['token', `GET /api/webhooks/${AGENT}/token`],
    ['rotate', `POST /api/webhooks/${AGENT}/token/rotate`],
  ])('%s prints the URL of an agent, by its id or name', async (verb, request) => {
    for (const which of [AGENT, 'scout']) {
      const result = await berth(['webhooks', verb, which], { respond });
      expect(result).toMatchObject({ exitCode: 0, out: `${shown.url}\n` });
      const last = result.seen.at(-1);
      expect(`${last?.method ?? ''} ${last?.url ?? ''}`).toBe(request);
    }
    const json = await berth(['webhooks', verb, AGENT, '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual(shown);
  });

  it('deliveries prints those with a status, and what went wrong', async () => {
    const result = await berth(['webhooks', 'deliveries', AGENT, '--status', 'failed'], { respond });
    expect(result.seen[0]?.url).toBe(`/api/webhooks/${AGENT}/deliveries?limit=50&status=failed`);
    for (const text of ['dlv_1', 'failed', '5', 'agent_error: no']) expect(result.out).toContain(text);
    expect(result.out.trim().split('\n')).toHaveLength(2);
    const refused = await berth(['webhooks', 'deliveries', AGENT, '--status', 'lost'], { respond });
    expect(refused).toMatchObject({ exitCode: 2, seen: [] });
  });

  it('redeliver prints the id of the new delivery', async () => {
    const result = await berth(['webhooks', 'redeliver', AGENT, 'dlv_1'], { respond });
    expect(result).toMatchObject({ exitCode: 0, out: 'dlv_2\n' });
    expect(result.seen[0]?.url).toBe(`/api/webhooks/${AGENT}/deliveries/dlv_1/redeliver`);
  });
});

describe('berth feedback', () => {
  const report = {
    ...{ id: 'fbk_1', kind: 'bug', subject: null, message: 'It\nbroke.', requestId: 'req-1' },
    ...{ statusCode: 500, tool: 'berth', accountId: 'acc_1', keyId: 'key_1', createdAt: '' },
  };

  it('send sends a report with the name of the tool, and prints its id', async () => {
    const options = ['--kind', 'bug', '--request-id', 'req-1', '--status-code', '500'];
    const result = await berth(['feedback', 'send', 'It broke.', ...options], {
      respond: () => ({ status: 202, body: report }),
    });
    expect(result).toMatchObject({ exitCode: 0, out: 'fbk_1\n' });
    expect(result.seen[0]).toMatchObject({
      url: '/api/v1/feedback',
      body: { kind: 'bug', message: 'It broke.', requestId: 'req-1', statusCode: 500, tool: 'berth' },
    });
    for (const wrong of [['--kind', 'praise'], ['--kind', 'bug', '--status-code', '600'], []])
      expect(await berth(['feedback', 'send', 'x', ...wrong])).toMatchObject({ exitCode: 2, seen: [] });
  });

  it('list prints the reports of all accounts, each in one line', async () => {
    const page = { status: 200, body: { items: [report], nextCursor: null } };
    const result = await berth(['feedback', 'list'], { respond: () => page });
    expect(result.seen[0]?.url).toBe('/api/v1/operations/feedback?limit=50');
    for (const text of ['bug', 'acc_1', 'req-1', '500']) expect(result.out).toContain(text);
    expect(result.out.trim().split('\n')).toHaveLength(2);
    expect(JSON.parse((await berth(['feedback', 'list', '--json'], { respond: () => page })).out)).toEqual([
      report,
    ]);
  });
});
