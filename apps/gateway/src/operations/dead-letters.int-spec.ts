import { operationsRequests, type DeadLetterView, SERVICES_WITH_TABLES } from '@berth/contracts/operations';
import { DomainError } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const PATH = '/api/v1/operations/dead-letters';

let test: TestGateway;
let key: string;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  key = test.services.key(['read', 'operate']);
});

const deadLetter = (service: string, id: string): DeadLetterView => ({
  id,
  service,
  consumer: `${service}__reacts`,
  eventId: 'event',
  subject: 'evt.agents.deleted.v1.acc_1.agt_1',
  reason: 'Error: broken',
  deliveries: 8,
  at: '2026-11-22T08:00:00.000Z',
});

/** Makes each service serve the dead letters with these ids, in pages. */
const serveDeadLetters = (idsByService: Readonly<Record<string, readonly string[]>>): void => {
  for (const service of SERVICES_WITH_TABLES) {
    const requests = operationsRequests(service);
    const ids = idsByService[service] ?? [];
    test.services.on(requests.listDeadLetters, ({ cursor, limit }) => {
      const from = Number(cursor ?? 0);
      const items = ids.slice(from, from + limit).map((id) => deadLetter(service, id));
      return { items, nextCursor: from + limit < ids.length ? String(from + limit) : null };
    });
    for (const definition of [requests.replayDeadLetter, requests.deleteDeadLetter])
      test.services.on(definition, ({ id }) => {
        if (!ids.includes(id))
          throw new DomainError('not_found', 'dead_letter_not_found', 'There is no such dead letter.');
        return {};
      });
  }
};

describe('the list of dead letters', () => {
  it.each([1, 2, 3, 50])('contains those of every service, in pages of at most %i', async (limit) => {
    serveDeadLetters({ agents: ['a', 'b', 'c'], exec: ['d', 'e'] });
    const ids: unknown[] = [];
    for (let query = `?limit=${limit}`, pages = 0; query !== '' && pages < 20; pages++) {
      const { status, body } = await test.call('GET', PATH + query, { key });
      expect(status).toBe(200);
      const items = body['items'] as readonly DeadLetterView[];
      expect(items.length).toBeLessThanOrEqual(limit);
      ids.push(...items.map(({ id }) => id));
      query = body['nextCursor'] === null ? '' : `?limit=${limit}&cursor=${String(body['nextCursor'])}`;
    }
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('refuses a cursor that it did not issue', async () => {
    serveDeadLetters({});
    for (const value of ['"key_1"', `[${SERVICES_WITH_TABLES.length},null]`, '[0,5]', '[-1,null]']) {
      const cursor = Buffer.from(value).toString('base64url');
      const { status, body } = await test.call('GET', `${PATH}?cursor=${cursor}`, { key });
      expect([status, body.detail?.code]).toEqual([400, 'invalid_request']);
    }
  });
});

describe('a dead letter', () => {
  it('is replayed and deleted by the service that holds it', async () => {
    serveDeadLetters({ delivery: ['x'] });
    expect((await test.call('POST', `${PATH}/x/replay`, { key })).status).toBe(202);
    expect((await test.call('DELETE', `${PATH}/x`, { key })).status).toBe(204);
    expect(test.services.requestsTo(operationsRequests('delivery').replayDeadLetter)).toHaveLength(1);
    expect(test.services.requestsTo(operationsRequests('exec').replayDeadLetter)).toHaveLength(0);
  });

  it('is 404 if no service holds it', async () => {
    serveDeadLetters({});
    for (const [method, path] of [
      ['POST', `${PATH}/x/replay`],
      ['DELETE', `${PATH}/x`],
    ] as const) {
      const { status, body } = await test.call(method, path, { key });
      expect([status, body.detail?.code]).toEqual([404, 'dead_letter_not_found']);
    }
  });

  it('is visible only to keys with the scope operate', async () => {
    const { status, body } = await test.call('GET', PATH, { key: test.services.key(['read', 'manage']) });
    expect([status, body.detail]).toMatchObject([403, { requiredScope: 'operate' }]);
  });
});
