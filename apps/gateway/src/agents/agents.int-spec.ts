import { agentsRequests } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
});

const fieldsOf = async (...args: Parameters<TestGateway['call']>): Promise<readonly string[] | undefined> => {
  const { status, body } = await test.call(...args);
  expect([status, body.detail?.code]).toEqual([400, 'invalid_request']);
  return body.detail?.fields?.map(({ path }) => path);
};

describe('POST /api/agents', () => {
  it('sends the command with absent members as null, and returns 201 with Location', async () => {
    const key = test.services.key();
    const { status, headers, body } = await test.call('POST', '/api/agents', {
      key,
      json: { name: 'scout', templateId: 'echo', unknown: 1, id: 'mine' },
    });
    expect([status, headers.get('location')]).toEqual([201, `/api/agents/${String(body['id'])}`]);
    expect(test.services.requestsTo(agentsRequests.create)[0]?.payload).toEqual({
      commandId: expect.stringMatching(/^cmd_/) as string,
      accountId: expect.stringMatching(/^acc_/) as string,
      actor: { kind: 'key', id: expect.stringMatching(/^key_/) as string },
      name: 'scout',
      templateId: 'echo',
      externalId: null,
      externalUserId: null,
      instructions: null,
      idleTtlSeconds: null,
      labels: {},
      env: [],
      resources: {},
    });
  });

  it('passes all members on', async () => {
    const given = {
      name: 'a_@.:+- 9',
      templateId: 'echo',
      externalId: 'org/7 é',
      externalUserId: 'ann@example.com',
      instructions: 'Be brief.',
      idleTtlSeconds: 15,
      labels: { 'team/x': 'core', empty: '' },
      env: [
        { key: 'A', value: '1' },
        { key: 'B', value: '2', secret: true },
        { key: 'C', value: '3', isSecret: false, secret: true },
      ],
      resources: { memMb: 256, vcpus: 0.5, diskGb: null },
    };
    expect((await test.call('POST', '/api/agents', { key: test.services.key(), json: given })).status).toBe(
      201,
    );
    expect(test.services.requestsTo(agentsRequests.create)[0]?.payload).toMatchObject({
      ...given,
      env: [
        { key: 'A', value: '1', isSecret: false },
        { key: 'B', value: '2', isSecret: true },
        { key: 'C', value: '3', isSecret: false },
      ],
      resources: { memMb: 256, vcpus: 0.5 },
    });
  });

  it('accepts variables as an object of plain values too', async () => {
    const json = { name: 'a', templateId: 'echo', env: { A: '1' } };
    await test.call('POST', '/api/agents', { key: test.services.key(), json });
    expect(test.services.requestsTo(agentsRequests.create)[0]?.payload['env']).toEqual([
      { key: 'A', value: '1', isSecret: false },
    ]);
  });

  it('names all bad fields in one response, and does not accept a string as a number', async () => {
    const json = {
      name: 'bad/name',
      templateId: 7,
      externalId: 'line\nbreak',
      externalUserId: 7,
      instructions: ['x'],
      idleTtlSeconds: '900',
      labels: { 'a b': 'x', fine: 5 },
      env: [
        { key: 'BERTH_X', value: '1' },
        'x',
        { key: 'OK', value: 'nul\0', isSecret: 'yes' },
        { key: 'OK', value: '' },
      ],
      resources: { memMb: '512', vcpus: 0.01, diskGb: 1.5 },
    };
    expect(await fieldsOf('POST', '/api/agents', { key: test.services.key(), json })).toEqual([
      'name',
      'templateId',
      'externalId',
      'externalUserId',
      'instructions',
      'idleTtlSeconds',
      'labels.a b',
      'labels.fine',
      'env.0.key',
      'env.1',
      'env.2.value',
      'env.2.isSecret',
      'env.3.key',
      'resources.memMb',
      'resources.vcpus',
      'resources.diskGb',
    ]);
    expect(test.services.requestsTo(agentsRequests.create)).toEqual([]);
  });

  it.each([0, 15, 604_800])('accepts %i idle seconds', async (idleTtlSeconds) => {
    const json = { name: 'a', templateId: 'echo', idleTtlSeconds };
    expect((await test.call('POST', '/api/agents', { key: test.services.key(), json })).status).toBe(201);
  });

  it.each([-1, 1, 14, 604_801, 20.5])('refuses %d idle seconds', async (idleTtlSeconds) => {
    const json = { name: 'a', templateId: 'echo', idleTtlSeconds };
    expect(await fieldsOf('POST', '/api/agents', { key: test.services.key(), json })).toEqual([
      'idleTtlSeconds',
    ]);
  });

  it('enforces the bounds of lists and texts', async () => {
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
    const base = { name: 'a'.repeat(128), templateId: 'echo' };
    const fits = { ...base, labels: many(64), env: many(256), instructions: 'x'.repeat(65_536) };
    expect((await test.call('POST', '/api/agents', { key: test.services.key(), json: fits })).status).toBe(
      201,
    );
    const json = {
      ...base,
      name: 'a'.repeat(129),
      labels: many(65),
      env: Array.from({ length: 100_000 }, () => 1),
      instructions: '€'.repeat(21_846),
    };
    expect(await fieldsOf('POST', '/api/agents', { key: test.services.key(), json })).toEqual([
      'name',
      'instructions',
      'labels',
      'env',
    ]);
  });
});

describe('reading agents', () => {
  it('passes filters and paging on, with 50 as the default', async () => {
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: 'next' }));
    const key = test.services.key();
    const { body } = await test.call(
      'GET',
      '/api/agents?externalId=x%20y&state=failed&label=a%3Db&cursor=abc&limit=200&other=1',
      { key },
    );
    expect(body).toEqual({ items: [], nextCursor: 'next' });
    await test.call('GET', '/api/agents', { key });
    const [filtered, plain] = test.services.requestsTo(agentsRequests.list).map(({ payload }) => payload);
    expect(filtered).toMatchObject({
      externalId: 'x y',
      state: 'failed',
      label: 'a=b',
      name: null,
      cursor: 'abc',
      limit: 200,
    });
    expect(plain).toMatchObject({ externalId: null, state: null, cursor: null, limit: 50 });
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=1.5',
    'limit=abc',
    'limit=',
    'limit=5&limit=6',
    'state=awake',
    'cursor=',
    'name=%00',
  ])('refuses %s', async (query) => {
    expect(await fieldsOf('GET', `/api/agents?${query}`, { key: test.services.key() })).toEqual([
      query.split('=')[0],
    ]);
  });

  it('waits for a state for the given timeout, 30 s by default, and not at all without wait', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const key = test.services.key(['read']);
    for (const query of ['', '?wait=running', '?wait=stopped&timeout=60']) {
      expect((await test.call('GET', `/api/agents/${agent.id}${query}`, { key })).status).toBe(200);
    }
    expect(test.services.requestsTo(agentsRequests.get).map(({ payload }) => payload['wait'])).toEqual([
      null,
      { state: 'running', timeoutSeconds: 30 },
      { state: 'stopped', timeoutSeconds: 60 },
    ]);
    expect(await fieldsOf('GET', `/api/agents/${agent.id}?wait=running&timeout=61`, { key })).toEqual([
      'timeout',
    ]);
  });

  it('responds to HEAD like GET without a body', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const { status, text, headers } = await test.call('HEAD', `/api/agents/${agent.id}`, {
      key: test.services.key(),
    });
    expect([status, text, headers.get('content-length')]).toEqual([
      200,
      '',
      String(JSON.stringify(agent).length),
    ]);
  });
});

describe('transitions of agents', () => {
  it.each(['start', 'stop', 'sleep', 'restart'] as const)(
    '%s is 200 when settled and 202 when it continues',
    async (verb) => {
      const agent = anAgent();
      const key = test.services.key();
      for (const [settled, status] of [
        [true, 200],
        [false, 202],
      ] as const) {
        test.services.on(agentsRequests[verb], () => ({ agent, settled }));
        const response = await test.call('POST', `/api/agents/${agent.id}/${verb}`, { key });
        expect([response.status, response.body]).toEqual([status, agent]);
      }
    },
  );

  it('deletes with 204 and no body', async () => {
    test.services.on(agentsRequests.delete, () => ({}));
    const { status, text } = await test.call('DELETE', `/api/agents/${newId('agt')}`, {
      key: test.services.key(),
      headers: { 'content-type': 'application/json' },
    });
    expect([status, text]).toEqual([204, '']);
  });
});
