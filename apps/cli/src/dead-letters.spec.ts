import { describe, expect, it } from 'vitest';
import { berth, type ServiceResponse, type RecordedRequest } from './recording-service.fixture.js';

const letter = (id: string) => ({
  id,
  service: 'exec',
  consumer: 'exec__agent-ends',
  eventId: 'event',
  subject: 'evt.agents.deleted.v1.acc_1.agt_1',
  reason: 'Error: broken',
  deliveries: 8,
  at: '2026-11-22T08:00:00.000Z',
});

describe('berth dead-letters', () => {
  it('lists every dead letter, page by page', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=next')
        ? { items: [letter('dlt_2')], nextCursor: null }
        : { items: [letter('dlt_1')], nextCursor: 'next' },
    });
    const result = await berth(['dead-letters', 'list'], { respond });
    expect(result.exitCode).toBe(0);
    for (const text of ['dlt_1', 'dlt_2', 'exec__agent-ends', 'Error: broken'])
      expect(result.out).toContain(text);
    const json = await berth(['dead-letters', 'list', '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual([letter('dlt_1'), letter('dlt_2')]);
  });

  it.each([
    ['replay', 'POST', '/api/v1/operations/dead-letters/dlt_1/replay', 202],
    ['delete', 'DELETE', '/api/v1/operations/dead-letters/dlt_1', 204],
  ] as const)('%ss one', async (verb, method, url, status) => {
    const result = await berth(['dead-letters', verb, 'dlt_1'], { respond: () => ({ status, body: '' }) });
    expect(result).toMatchObject({ exitCode: 0, seen: [{ method, url }] });
  });

  it('exits 1 for a dead letter that does not exist', async () => {
    const detail = { code: 'dead_letter_not_found', message: 'There is no dead letter with this id.' };
    const respond = (): ServiceResponse => ({ status: 404, body: { detail } });
    const result = await berth(['dead-letters', 'replay', 'x'], { respond });
    expect(result.exitCode).toBe(1);
    expect(result.err).toContain(detail.message);
  });
});
