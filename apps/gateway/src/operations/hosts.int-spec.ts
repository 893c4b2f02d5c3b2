import { agentsRequests } from '@berth/contracts/agents';
import { DomainError, newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const PATH = '/api/v1/operations/hosts';

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

const aHost = (id: string): Record<string, unknown> => ({
  id,
  name: 'one',
  driver: 'process',
  version: '1.0.0',
  state: 'ready',
  agents: { awake: 1, warm: 2, cold: 3 },
  memMb: { total: 2, free: 1 },
  diskGb: { total: 2, free: 1 },
  runtimeClasses: [],
  lastSeenAt: '2026-11-22T08:00:00.000Z',
});

describe('the list of hosts', () => {
  it('is the page that agents returns', async () => {
    const page = { items: [aHost(newId('hst'))], nextCursor: 'more' };
    test.services.on(agentsRequests.listHosts, () => page as never);
    const { status, body } = await test.call('GET', `${PATH}?limit=7&cursor=here`, { key });
    expect([status, body]).toEqual([200, page]);
    expect(test.services.requestsTo(agentsRequests.listHosts)).toMatchObject([
      { payload: { cursor: 'here', limit: 7 } },
    ]);
  });
});

describe.each([
  ['POST', '/drain', 202, agentsRequests.drainHost],
  ['POST', '/resume', 202, agentsRequests.resumeHost],
  ['DELETE', '', 204, agentsRequests.removeHost],
] as const)('%s …/hosts/{id}%s', (method, suffix, done, definition) => {
  it('orders it, in the name of the caller', async () => {
    test.services.on(definition, () => ({}));
    const id = newId('hst');
    expect((await test.call(method, `${PATH}/${id}${suffix}`, { key })).status).toBe(done);
    expect(test.services.requestsTo(definition)).toMatchObject([
      { payload: { hostId: id, actor: { kind: 'key' } } },
    ]);
  });

  it('is 404 for an unknown host, and for an id of another form without asking', async () => {
    test.services.on(definition, () => {
      throw new DomainError('not_found', 'host_not_found', 'None.');
    });
    for (const id of [newId('hst'), 'x', newId('agt')]) {
      const { status, body } = await test.call(method, `${PATH}/${id}${suffix}`, { key });
      expect([status, body.detail?.code]).toEqual([404, 'host_not_found']);
    }
    expect(test.services.requestsTo(definition)).toHaveLength(1);
  });

  it('needs the scope operate', async () => {
    const other = test.services.key(['read', 'deploy', 'manage']);
    const { status, body } = await test.call(method, `${PATH}/${newId('hst')}${suffix}`, { key: other });
    expect([status, body.detail]).toMatchObject([403, { requiredScope: 'operate' }]);
  });
});

describe('a host that is not lost', () => {
  it('cannot be removed: 409', async () => {
    test.services.on(agentsRequests.removeHost, () => {
      throw new DomainError('conflict', 'host_not_lost', 'It responds.');
    });
    const { status, body } = await test.call('DELETE', `${PATH}/${newId('hst')}`, { key });
    expect([status, body.detail?.code]).toEqual([409, 'host_not_lost']);
  });
});
