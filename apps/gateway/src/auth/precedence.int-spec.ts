import { accountsRequests, formatKey } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { auditRequests } from '@berth/contracts/audit';
import { deliveryRequests } from '@berth/contracts/delivery';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, sendRaw, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
});

const codeOf = async (...args: Parameters<TestGateway['call']>): Promise<readonly unknown[]> => {
  const { status, body } = await test.call(...args);
  return [status, body.detail?.code];
};

const UNKNOWN_KEY = formatKey(new Uint8Array(32).fill(1));
const BROKEN = { body: '{', headers: { 'content-type': 'application/json' } };

describe('401', () => {
  it.each([
    ['no credential', {}],
    ['another scheme', { authorization: `Basic ${UNKNOWN_KEY}` }],
    ['a bare key', { authorization: UNKNOWN_KEY }],
    ['a mistyped key', { authorization: `Bearer ${UNKNOWN_KEY.slice(0, -1)}x` }],
    ['a token of an agent', { authorization: 'Bearer at_1234567890123456789012345678901234567890' }],
    ['no credential after Bearer', { authorization: 'Bearer ' }],
  ])('rejects %s without a request to any service', async (_what, headers) => {
    const { status, body, headers: responseHeaders } = await test.call('GET', '/api/agents', { headers });
    expect([status, body.detail?.code, responseHeaders.get('www-authenticate')]).toEqual([
      401,
      'unauthenticated',
      'Bearer',
    ]);
    expect(test.services.received).toEqual([]);
  });

  it('rejects an unknown key and a revoked one', async () => {
    expect(await codeOf('GET', '/api/agents', { key: UNKNOWN_KEY })).toEqual([401, 'unauthenticated']);
    const key = test.services.key();
    test.services.revoke(key);
    expect(await codeOf('GET', '/api/agents', { key })).toEqual([401, 'unauthenticated']);
  });

  it('rejects a credential in the URL, even next to a valid one', async () => {
    const key = test.services.key();
    for (const query of [
      `token=${key}`,
      `key=${key}`,
      'token=anything',
      `a=1&x=${key}&x=2`,
      `name=eu_${'a'.repeat(30)}`,
    ]) {
      expect(await codeOf('GET', `/api/agents?${query}`, { key })).toEqual([401, 'unauthenticated']);
    }
    expect(await codeOf('GET', `/api/templates?token=${key}`)).toEqual([401, 'unauthenticated']);
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: null }));
    expect(await codeOf('GET', '/api/agents?name=mk_robot', { key })).toEqual([200, undefined]);
  });

  it('comes before all other errors', async () => {
    expect(await codeOf('POST', '/api/agents/nope/chat?wait=%ZZ', BROKEN)).toEqual([401, 'unauthenticated']);
  });

  it('is 503 instead while keys cannot be looked up', async () => {
    test.services.on(accountsRequests.authenticate, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'pg at 10.0.0.3 is down', {
        host: '10.0.0.3',
      });
    });
    const { status, headers, text } = await test.call('GET', '/api/agents', { key: UNKNOWN_KEY });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(text).not.toContain('10.0.0.3');
  });

  it('is 503 within 5 s when the lookup of a key neither returns nor fails', async () => {
    test.services.on(accountsRequests.authenticate, () => new Promise(() => undefined));
    const startedAt = performance.now();
    expect(await codeOf('GET', '/api/agents', { key: UNKNOWN_KEY })).toEqual([503, 'service_unavailable']);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('is returned to each of 1,000 parallel calls after a revocation', async () => {
    const key = test.services.key();
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: null }));
    expect((await test.call('GET', '/api/agents', { key })).status).toBe(200);
    test.services.revoke(key);
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async () => (await test.call('GET', '/api/agents', { key })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

describe('403', () => {
  it('refuses the token of a suspended end user before anything else, and reports it to the audit', async () => {
    const endUserId = newId('eus');
    const key = test.services.token(['chat'], newId('agt'), { suspended: true, endUserId });
    const refused = [403, 'end_user_suspended'];
    expect(await codeOf('POST', `/api/agents/${newId('agt')}/chat`, { key, ...BROKEN })).toEqual(refused);
    await eventually(() =>
      expect(test.services.requestsTo(auditRequests.recordRefusal)).toMatchObject([
        { payload: { actor: { kind: 'end_user', id: endUserId }, code: 'end_user_suspended' } },
      ]),
    );
  });

  it('refuses the operator routes to a key that only manages its account', async () => {
    const key = test.services.key(['read', 'deploy', 'manage', 'computers']);
    for (const [method, path] of [
      ['GET', '/api/v1/operations/projections'],
      ['POST', '/api/v1/operations/projections/key-list/rebuild'],
    ] as const) {
      const { status, body } = await test.call(method, path, { key });
      expect([status, body.detail]).toMatchObject([403, { code: 'missing_scope', requiredScope: 'operate' }]);
    }
  });

  it('names the scope, and comes before 404 and 400', async () => {
    const key = test.services.key(['read']);
    for (const path of ['/api/agents', '/api/agents/nope/chat', `/api/agents/${newId('agt')}/start`]) {
      const { status, body } = await test.call('POST', path, { key, ...BROKEN });
      expect([status, body.detail]).toMatchObject([403, { code: 'missing_scope', requiredScope: 'deploy' }]);
    }
  });

  it('covers the scopes that the body requires, before the body is validated', async () => {
    const key = test.services.key(['read', 'deploy']);
    const create = await test.call('POST', '/api/agents', { key, json: { name: 5, externalUserId: 'ann' } });
    expect([create.status, create.body.detail]).toMatchObject([403, { requiredScope: 'manage' }]);
    const minter = test.services.key(['read', 'manage']);
    const mint = await test.call('POST', '/api/v1/keys', {
      key: minter,
      json: { name: 5, scopes: ['manage', 'computers'] },
    });
    expect([mint.status, mint.body.detail]).toMatchObject([403, { requiredScope: 'computers' }]);
    expect(
      (
        await test.call('POST', '/api/agents', {
          key,
          json: { name: 'a', templateId: 'echo', externalUserId: null },
        })
      ).status,
    ).toBe(201);
  });
});

describe('417', () => {
  const refusalOf = async (path: string, ...headers: readonly string[]): Promise<readonly unknown[]> => {
    const lines = [`POST ${path} HTTP/1.1`, 'Host: x', 'Expect: tea', 'Content-Length: 0', ...headers];
    const { head, body } = readRaw(await sendRaw(test.gateway.url, `${lines.join('\r\n')}\r\n\r\n`));
    return [head.split(' ')[1], body.detail?.code];
  };

  it('comes after 401, 403, 404 and 405', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const chat = `/api/agents/${agent.id}/chat`;
    const bearer = `Authorization: Bearer ${test.services.key()}`;
    const reader = `Authorization: Bearer ${test.services.key(['read'])}`;
    expect(await refusalOf(chat)).toEqual(['401', 'unauthenticated']);
    expect(await refusalOf(chat, reader)).toEqual(['403', 'missing_scope']);
    expect(await refusalOf(`/api/agents/${newId('agt')}/chat`, bearer)).toEqual(['404', 'agent_not_found']);
    expect(await refusalOf('/api/nothing', bearer)).toEqual(['404', 'not_found']);
    expect(await refusalOf('/health', bearer)).toEqual(['405', 'method_not_allowed']);
    expect(await refusalOf(chat, bearer)).toEqual(['417', 'expectation_failed']);
  });
});

describe('429', () => {
  it('of an end user beyond its rate comes after 401, 403, 404 and 400, and before any effect', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const key = test.services.token(['chat'], agent.id, { retryAfterSeconds: 7 });
    const chat = `/api/agents/${agent.id}/chat`;
    const json = { message: 'hello' };
    expect(await codeOf('GET', `/api/agents/${agent.id}/logs`, { key })).toEqual([403, 'token_scope']);
    expect(await codeOf('POST', `/api/agents/${newId('agt')}/chat`, { key, json })).toEqual([
      404,
      'agent_not_found',
    ]);
    expect(await codeOf('POST', chat, { key, json: {} })).toEqual([400, 'invalid_request']);
    const { status, body, headers } = await test.call('POST', chat, { key, json });
    expect([status, body.detail?.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '7']);
    expect(test.services.requestsTo(deliveryRequests.chat)).toEqual([]);
    test.services.agents.delete(agent.id);
    expect(await codeOf('POST', chat, { key, json })).toEqual([404, 'agent_not_found']);
    expect(await codeOf('GET', `/api/agents/${agent.id}`, { key })).toEqual([404, 'agent_not_found']);
  });

  it('is never the response to a request with a key, or to an end user within its rate', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    for (const key of [test.services.key(['read']), test.services.token(['logs'], agent.id)])
      expect(await codeOf('GET', `/api/agents/${agent.id}`, { key })).toEqual([200, undefined]);
  });
});

describe('404', () => {
  it.each(['nope', newId('key'), 'agt_00000000000000000000000000x', '..%2f..%2fetc'])(
    'treats the id %s like an unknown one, with any body',
    async (id) => {
      expect(await codeOf('GET', `/api/agents/${id}`, { key: test.services.key() })).toEqual([
        404,
        'agent_not_found',
      ]);
      expect(await codeOf('POST', `/api/agents/${id}/chat`, { key: test.services.key(), ...BROKEN })).toEqual(
        [404, 'agent_not_found'],
      );
      expect(test.services.requestsTo(agentsRequests.get)).toEqual([]);
    },
  );

  it('of an agent comes before 400, 413 and 415', async () => {
    const key = test.services.key();
    const path = `/api/agents/${newId('agt')}/chat`;
    const headers = { 'content-type': 'application/json' };
    expect(await codeOf('POST', path, { key, json: { message: 5 } })).toEqual([404, 'agent_not_found']);
    expect(await codeOf('POST', path, { key, ...BROKEN })).toEqual([404, 'agent_not_found']);
    expect(await codeOf('POST', path, { key, body: 'x'.repeat(1_048_577), headers })).toEqual([
      404,
      'agent_not_found',
    ]);
    expect(await codeOf('POST', path, { key, body: 'x', headers: { 'content-type': 'text/plain' } })).toEqual(
      [404, 'agent_not_found'],
    );
    expect(await codeOf('GET', `/api/agents/${newId('agt')}?wait=dreaming`, { key })).toEqual([
      404,
      'agent_not_found',
    ]);
    expect(
      await codeOf('POST', path, {
        key,
        json: { message: 'a' },
        headers: { 'idempotency-key': 'é'.repeat(2) },
      }),
    ).toEqual([404, 'agent_not_found']);
  });

  it('of an agent comes before 426', async () => {
    const key = test.services.key();
    expect(await codeOf('GET', `/api/agents/${newId('agt')}/console`, { key })).toEqual([
      404,
      'agent_not_found',
    ]);
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    expect(await codeOf('GET', `/api/agents/${agent.id}/console`, { key })).toEqual([
      426,
      'upgrade_required',
    ]);
  });

  it('gives way to 400 if the agent exists', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const { status, body } = await test.call('POST', `/api/agents/${agent.id}/chat`, {
      key: test.services.key(),
      json: { message: '', conversation_id: 7 },
    });
    expect(status).toBe(400);
    expect(body.detail?.fields?.map(({ path }) => path)).toEqual(['message', 'conversation_id']);
  });

  it('of keys covers malformed ids', async () => {
    expect(await codeOf('DELETE', '/api/v1/keys/nope', { key: test.services.key() })).toEqual([
      404,
      'key_not_found',
    ]);
  });
});

describe('refusals of services', () => {
  it.each([
    [new DomainError('payment_required', 'spend_cap_reached', 'Raise the cap.'), 402],
    [new DomainError('conflict', 'agent_deploying', 'Wait until it runs.'), 409],
    [new DomainError('unsupported', 'chat_unsupported', 'It has no chat.'), 501],
    [new DomainError('upstream', 'agent_error', 'boom from the model'), 502],
    [new DomainError('unavailable', 'agent_unavailable', 'It is not there.', {}, { effect: 'none' }), 503],
    [new DomainError('timeout', 'agent_timeout', 'It took too long.', {}, { effect: 'none' }), 504],
  ])('keep their code and message: %s', async (refusal, status) => {
    test.services.on(deliveryRequests.chat, () => {
      throw refusal;
    });
    const response = await test.call('POST', `/api/agents/${newId('agt')}/chat`, {
      key: test.services.key(),
      json: { message: 'hi' },
    });
    expect([response.status, response.body.detail]).toEqual([
      status,
      { code: refusal.code, message: refusal.message },
    ]);
  });

  it('carry Retry-After in whole seconds', async () => {
    test.services.on(deliveryRequests.chat, () => {
      throw new DomainError('exhausted', 'rate_limited', 'Slow down.', { retryAfterSeconds: 2.2 });
    });
    const { status, headers } = await test.call('POST', `/api/agents/${newId('agt')}/chat`, {
      key: test.services.key(),
      json: { message: 'hi' },
    });
    expect([status, headers.get('retry-after')]).toEqual([429, '3']);
  });

  it('reveal nothing about the internal cause', async () => {
    test.services.on(agentsRequests.list, () => {
      throw new Error('SELECT * FROM secrets at /srv/berth/x.ts');
    });
    const { status, text } = await test.call('GET', '/api/agents', { key: test.services.key() });
    expect(status).toBe(500);
    expect(text).not.toMatch(/SELECT|srv/);
  });

  it('are 503 immediately when no service responds', async () => {
    const path = '/api/v1/operations/projections/agents/rebuild';
    const { status, headers, body } = await test.call('POST', path, { key: test.services.key(['operate']) });
    expect([status, headers.get('retry-after'), body.detail?.code]).toEqual([
      503,
      '1',
      'service_unavailable',
    ]);
  });
});
