import { randomBytes } from 'node:crypto';
import { accountsRequests } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests } from '@berth/contracts/delivery';
import { endUsersRequests } from '@berth/contracts/end-users';
import { DomainError, newId } from '@berth/kernel';
import { openDatabase, SecretBox, type Database } from '@berth/persistence';
import { eventually, TcpProxy } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { caller, silent, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { startGateway } from '../start-gateway.js';
import { IdempotentResponses } from './idempotent-responses.js';
import { migrations, VAULT_SCHEMA } from './migrations.js';

let test: TestGateway;
let database: Database;

beforeAll(async () => {
  test = await startTestGateway();
  database = await openDatabase({
    url: test.infra.databaseUrl,
    schema: VAULT_SCHEMA,
    migrations,
    applicationName: 'test',
    log: silent,
  });
});
afterAll(async () => {
  await database.close();
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  test.services.agents.set(CHATTY.id, CHATTY);
});
afterEach(() => database.query('DELETE FROM idempotent_answers'));

const AGENT = { name: 'scout', templateId: 'echo' };
const CHATTY = anAgent();
const CHAT = `/api/agents/${CHATTY.id}/chat`;

const post = (path: string, key: string, json: unknown, idempotencyKey = 'k-1') =>
  test.call('POST', path, { key, json, headers: { 'idempotency-key': idempotencyKey } });

const throwing = (error: DomainError) => (): never => {
  throw error;
};

/** From now on chats fail. */
const failing = (error: DomainError): void => test.services.on(deliveryRequests.chat, throwing(error));

const gate = (): { readonly opened: Promise<void>; open(): void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
};

describe('a repeated Idempotency-Key', () => {
  it('works on a path of any length', async () => {
    const key = test.services.key(['read', 'operate']);
    const path = `/api/v1/operations/projections/${randomBytes(5_000).toString('hex')}/rebuild`;
    // No service has such a projection here; the claim of the key must come before that error.
    const { status, body } = await post(path, key, {});
    expect([status, body.detail?.code]).toEqual([503, 'service_unavailable']);
  });

  it('replays the first response with its status and Location, and acts once', async () => {
    const key = test.services.key();
    const first = await post('/api/agents', key, AGENT);
    const again = await post('/api/agents', key, AGENT);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(test.services.requestsTo(agentsRequests.create)).toHaveLength(1);
  });

  it('with another body is 409, but a bad body is 400 first', async () => {
    const key = test.services.key();
    await post('/api/agents', key, AGENT);
    const other = await post('/api/agents', key, { ...AGENT, name: 'other' });
    expect([other.status, other.body.detail?.code]).toEqual([409, 'idempotency_key_reused']);
    expect((await post('/api/agents', key, { name: 5 })).status).toBe(400);
  });

  it('counts per API key and per path', async () => {
    const key = test.services.key();
    const agent = anAgent();
    test.services.on(agentsRequests.start, () => ({ agent, settled: true }));
    await post('/api/agents', key, AGENT);
    await post('/api/agents', test.services.key(), AGENT);
    await post(`/api/agents/${agent.id}/start`, key, undefined);
    await post(`/api/agents/${newId('agt')}/start`, key, undefined);
    expect(test.services.requestsTo(agentsRequests.create)).toHaveLength(2);
    expect(test.services.requestsTo(agentsRequests.start)).toHaveLength(2);
  });

  it('works without a body', async () => {
    const key = test.services.key();
    const agent = anAgent();
    test.services.on(agentsRequests.restart, () => ({ agent, settled: false }));
    const path = `/api/agents/${agent.id}/restart`;
    expect([(await post(path, key, undefined)).status, (await post(path, key, undefined)).status]).toEqual([
      202, 202,
    ]);
    expect(test.services.requestsTo(agentsRequests.restart)).toHaveLength(1);
  });

  it.each(['', 'a'.repeat(256), 'tab\there'])(
    'must be 1 to 255 printable characters, not %j',
    async (bad) => {
      const { status, body } = await post('/api/agents', test.services.key(), AGENT, bad);
      expect([status, body.detail?.fields?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
    },
  );

  it('may have 255 characters', async () => {
    expect((await post('/api/agents', test.services.key(), AGENT, '~'.repeat(255))).status).toBe(201);
  });
});

describe('while the first call runs', () => {
  it('a second is 409, also on another gateway and after the first client has disconnected', async () => {
    const second = await startGateway(test.config, silent);
    try {
      const key = test.services.key();
      const { opened, open } = gate();
      test.services.on(deliveryRequests.chat, async () => {
        await opened;
        return { response: 'pong', conversationId: 'c' };
      });
      const hangUp = new AbortController();
      const request = { key, json: { message: 'ping' }, headers: { 'idempotency-key': 'slow' } };
      const first = test.call('POST', CHAT, { ...request, signal: hangUp.signal });
      first.catch(() => undefined);
      await eventually(() => test.services.requestsTo(deliveryRequests.chat).length === 1);
      const elsewhere = caller(second.url);
      const meanwhile = await elsewhere('POST', CHAT, request);
      expect([meanwhile.status, meanwhile.body.detail?.code]).toEqual([409, 'idempotency_in_progress']);
      hangUp.abort();
      await expect(first).rejects.toThrow('aborted');
      open();
      const replayed = await eventually(async () => {
        const response = await elsewhere('POST', CHAT, request);
        expect(response.status).toBe(200);
        return response;
      });
      expect([replayed.body['response'], replayed.headers.get('idempotent-replayed')]).toEqual([
        'pong',
        'true',
      ]);
      expect(test.services.requestsTo(deliveryRequests.chat)).toHaveLength(1);
    } finally {
      await second.stop();
    }
  });

  it('100 at once act once', async () => {
    const key = test.services.key();
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => post('/api/agents', key, AGENT, 'burst')),
    );
    expect(test.services.requestsTo(agentsRequests.create)).toHaveLength(1);
    for (const { status } of responses) expect([201, 409]).toContain(status);
  });
});

describe('a refusal', () => {
  it('frees the key for another attempt', async () => {
    const key = test.services.key();
    failing(new DomainError('conflict', 'agent_deploying', 'Wait.'));
    expect((await post(CHAT, key, { message: 'a' })).status).toBe(409);
    test.services.on(deliveryRequests.chat, () => ({ response: 'b', conversationId: 'c' }));
    expect((await post(CHAT, key, { message: 'another body' })).status).toBe(200);
    const [refused, done] = test.services.requestsTo(deliveryRequests.chat);
    expect(done?.payload['commandId']).not.toBe(refused?.payload['commandId']);
  });

  it.each([
    new DomainError('timeout', 'deadline_exceeded', 'late'),
    new DomainError('unavailable', 'agent_unavailable', 'gone', {}, { effect: 'unknown' }),
  ])(
    'of unknown outcome keeps the command id, so that the service recognises the retry: %s',
    async (error) => {
      const key = test.services.key();
      failing(error);
      expect((await post(CHAT, key, { message: 'a' })).status).toBe(error.kind === 'timeout' ? 504 : 503);
      test.services.on(deliveryRequests.chat, () => ({ response: 'b', conversationId: 'c' }));
      expect((await post(CHAT, key, { message: 'a' })).status).toBe(200);
      const [first, second] = test.services.requestsTo(deliveryRequests.chat).map(({ payload }) => payload);
      expect([first?.['repeated'], second?.['repeated']]).toEqual([false, true]);
      expect(second?.['commandId']).toBe(first?.['commandId']);
    },
  );
});

describe('while the outcome under a key is unknown', () => {
  const LOST = new DomainError('unavailable', 'service_unavailable', 'No reply.');
  const answering = (): void =>
    test.services.on(deliveryRequests.chat, () => ({ response: 'pong', conversationId: 'c' }));
  /** The command id and `repeated` of each attempt that reached the service. */
  const attempts = () =>
    test.services
      .requestsTo(deliveryRequests.chat)
      .map(({ payload }) => [payload['commandId'], payload['repeated']]);
  const outcomeOf = async (key: string, message = 'ping'): Promise<readonly unknown[]> => {
    const { status, body } = await post(CHAT, key, { message });
    return [status, body.detail?.code, body.detail?.['mayHaveBeenDone']];
  };

  it('the response says that the request may have been done, unless no service began it', async () => {
    const key = test.services.key();
    failing(LOST);
    expect(await outcomeOf(key)).toEqual([503, 'service_unavailable', true]);
    failing(new DomainError('timeout', 'deadline_exceeded', 'Late.'));
    expect(await outcomeOf(key)).toEqual([504, 'deadline_exceeded', true]);
    failing(new DomainError('unavailable', 'agent_unavailable', 'No.', {}, { effect: 'none' }));
    expect(await outcomeOf(test.services.key())).toEqual([503, 'agent_unavailable', undefined]);
    test.services.on(accountsRequests.authenticate, throwing(LOST));
    const { body } = await test.call('POST', CHAT, { key, json: { message: 'ping' } });
    expect([body.detail?.code, body.detail?.['mayHaveBeenDone']]).toEqual(['service_unavailable', undefined]);
  });

  it('so does the response to an attempt for which the key could not be looked up', async () => {
    const key = test.services.key();
    failing(LOST);
    await outcomeOf(key);
    test.services.on(accountsRequests.authenticate, throwing(LOST));
    expect(await outcomeOf(key)).toEqual([503, 'service_unavailable', true]);
  });

  it('another body is 409, and the first one keeps its command id', async () => {
    const key = test.services.key();
    failing(LOST);
    await outcomeOf(key);
    answering();
    expect(await outcomeOf(key, 'another')).toEqual([409, 'idempotency_key_reused', undefined]);
    expect(await outcomeOf(key)).toEqual([200, undefined, undefined]);
    const [[commandId] = []] = attempts();
    expect(attempts()).toEqual([
      [commandId, false],
      [commandId, true],
    ]);
  });

  it('another body is 409 also after the gateway with the first one has died', async () => {
    const key = test.services.key();
    failing(LOST);
    await outcomeOf(key);
    await database.query(
      "UPDATE idempotent_answers SET claim_id = gen_random_uuid(), leased_until = now() - interval '1 second'",
    );
    answering();
    expect(await outcomeOf(key, 'another')).toEqual([409, 'idempotency_key_reused', undefined]);
    expect(await outcomeOf(key)).toEqual([200, undefined, undefined]);
  });

  it.each([
    ['401', () => new DomainError('unauthenticated', 'unauthenticated', 'No.')],
    ['402', () => new DomainError('payment_required', 'compute_cap_reached', 'No.')],
    ['403', () => new DomainError('forbidden', 'end_user_suspended', 'No.')],
    ['404', () => new DomainError('not_found', 'agent_not_found', 'No.')],
    ['409', () => new DomainError('conflict', 'agent_stopped', 'No.')],
    ['429', () => new DomainError('exhausted', 'rate_limited', 'No.')],
    [
      '503 of no effect',
      () => new DomainError('unavailable', 'agent_unavailable', 'No.', {}, { effect: 'none' }),
    ],
  ])('a service that refuses a further attempt with %s does not free the key', async (_status, refusal) => {
    const key = test.services.key();
    failing(LOST);
    await outcomeOf(key);
    failing(refusal());
    expect(await outcomeOf(key)).toMatchObject([expect.any(Number), refusal().code, true]);
    answering();
    expect(await outcomeOf(key)).toEqual([200, undefined, undefined]);
    const [[commandId] = []] = attempts();
    expect(attempts()).toEqual([
      [commandId, false],
      [commandId, true],
      [commandId, true],
    ]);
  });

  it('a refusal by the gateway (401, 403, 429, 503) does not free the key', async () => {
    const endUserId = newId('eus');
    const token = test.services.token(['chat'], CHATTY.id, { endUserId });
    const holder = {
      ...{ accountId: newId('acc'), tokenId: newId('tok'), scopes: ['chat'] as const, externalId: 'ada' },
      ...{ endUserId, agentId: CHATTY.id, suspended: false, retryAfterSeconds: null },
    };
    failing(LOST);
    await outcomeOf(token);
    answering();
    for (const [refused, status] of [
      [() => ({ ...holder, retryAfterSeconds: 7 }), 429],
      [() => ({ ...holder, suspended: true }), 403],
      [() => ({ ...holder, scopes: ['logs'] as const }), 403],
      [throwing(new DomainError('unauthenticated', 'unauthenticated', 'No.')), 401],
      [throwing(LOST), 503],
    ] as const) {
      test.services.on(endUsersRequests.authenticateToken, refused);
      expect((await post(CHAT, token, { message: 'ping' })).status).toBe(status);
    }
    test.services.on(endUsersRequests.authenticateToken, () => holder);
    expect(await outcomeOf(token)).toEqual([200, undefined, undefined]);
    const [[commandId] = []] = attempts();
    expect(attempts()).toEqual([
      [commandId, false],
      [commandId, true],
    ]);
  });

  it('an error that is the outcome of the command frees the key, also for another body', async () => {
    const key = test.services.key();
    failing(LOST);
    await outcomeOf(key);
    failing(new DomainError('unavailable', 'agent_unavailable', 'No.', {}, { effect: 'final' }));
    expect(await outcomeOf(key)).toEqual([503, 'agent_unavailable', undefined]);
    answering();
    expect(await outcomeOf(key, 'another')).toEqual([200, undefined, undefined]);
    const [[first] = [], , [third, repeated] = []] = attempts();
    expect(third).not.toBe(first);
    expect(repeated).toBe(false);
  });
});

describe('stored responses', () => {
  const scope = { caller: 'key_x', route: 'POST /x', key: 'k' };
  const box = new SecretBox({ current: 'k1', keys: new Map([['k1', new Uint8Array(32).fill(7)]]) });
  const responses = (): IdempotentResponses => new IdempotentResponses(database, box, silent);

  it('contain no secret in plain text', async () => {
    const key = test.services.key();
    const secret = test.services.key();
    test.services.on(accountsRequests.mintKey, () => ({
      key: secret,
      id: newId('key'),
      name: 'n',
      scopes: ['read' as const],
      accountId: 'a',
      createdAt: '',
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
    }));
    await post('/api/v1/keys', key, { name: 'n', scopes: [] });
    const rows = await database.query<{ row: string }>(
      'SELECT idempotent_answers::text AS row FROM idempotent_answers',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(secret);
    expect((await post('/api/v1/keys', key, { name: 'n', scopes: [] })).body['key']).toBe(secret);
  });

  it('with a secret are replayed until it ends, and then 409 and forgotten', async () => {
    const key = test.services.key();
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    test.services.on(endUsersRequests.get, () => ({}) as never);
    const token = test.services.token(['chat'], CHATTY.id);
    test.services.on(endUsersRequests.mintToken, () => ({ token, expiresAt }) as never);
    const mint = () => post('/api/v1/end-users/ada/tokens', key, {});
    expect((await mint()).status).toBe(201);
    const again = await mint();
    expect([again.status, again.body['token']]).toEqual([201, token]);
    await database.query(
      "UPDATE idempotent_answers SET answer_ends_at = answer_ends_at - interval '60 seconds'",
    );
    await eventually(async () => {
      const gone = await mint();
      expect([gone.status, gone.body.detail?.code]).toEqual([409, 'idempotency_answer_gone']);
    });
    await responses().sweep();
    const rows = await database.query('SELECT sealed_answer FROM idempotent_answers');
    expect(rows).toEqual([{ sealed_answer: null }]);
    expect((await mint()).body.detail?.code).toBe('idempotency_answer_gone');
    expect(test.services.requestsTo(endUsersRequests.mintToken)).toHaveLength(1);
  });

  it('with a secret that was lost are not replaced by another secret', async () => {
    const key = test.services.key();
    const refusals = [new DomainError('timeout', 'deadline_exceeded', 'Late.')];
    const shown = new DomainError('conflict', 'key_already_minted', 'It cannot be shown again.');
    test.services.on(accountsRequests.mintKey, () => throwing(refusals.pop() ?? shown)());
    const mint = () => post('/api/v1/keys', key, { name: 'n', scopes: [] });
    for (const code of ['deadline_exceeded', 'key_already_minted', 'key_already_minted'])
      expect((await mint()).body.detail).toMatchObject({ code, mayHaveBeenDone: true });
    const minted = test.services.requestsTo(accountsRequests.mintKey);
    expect(new Set(minted.map(({ payload }) => payload['commandId'])).size).toBe(1);
  });

  it('with a secret are 503 while the secret cannot be looked up, and replayed afterwards', async () => {
    const [key, minted] = [test.services.key(), test.services.key()];
    let isDown = false;
    test.services.on(accountsRequests.authenticate, ({ isRequest }) => {
      if (isDown && isRequest === false) throw new DomainError('unavailable', 'service_unavailable', 'Down.');
      return { accountId: 'acc_1', keyId: 'key_1', scopes: ['read', 'manage'] as const, suspended: false };
    });
    test.services.on(accountsRequests.mintKey, () => ({ key: minted }) as never);
    const mint = () => post('/api/v1/keys', key, { name: 'n', scopes: [] });
    expect((await mint()).status).toBe(201);
    isDown = true;
    expect((await mint()).body.detail?.code).toBe('service_unavailable');
    isDown = false;
    expect((await mint()).body['key']).toBe(minted);
  });

  it('belong to the end user whatever its token, and to no other agent or end user', async () => {
    const endUserId = newId('eus');
    const tokens = [1, 2].map(() => test.services.token(['chat'], CHATTY.id, { endUserId }));
    test.services.on(deliveryRequests.chat, () => ({ response: 'hello', conversationId: 'c' }) as never);
    const replayed = async (key = ''): Promise<string | null> => {
      const { status, headers } = await post(CHAT, key, { message: 'hi' });
      expect(status).toBe(200);
      return headers.get('idempotent-replayed');
    };
    expect([await replayed(tokens[0]), await replayed(tokens[1])]).toEqual([null, 'true']);
    expect(await replayed(test.services.token(['chat'], CHATTY.id))).toBeNull();
  });

  it('of a dead gateway are claimed by another one, with the same command id, once the lease expires', async () => {
    const died = await responses().claim(scope, 'digest');
    await expect(responses().claim(scope, 'digest')).rejects.toMatchObject({
      code: 'idempotency_in_progress',
    });
    await database.query("UPDATE idempotent_answers SET leased_until = now() - interval '1 second'");
    const taken = await responses().claim(scope, 'digest');
    expect('claim' in taken && 'claim' in died && taken.claim.commandId === died.claim.commandId).toBe(true);
  });

  it('stay claimed while their gateway renews the lease, and are released when it stops', async () => {
    const alive = responses();
    await alive.claim(scope, 'digest');
    await database.query("UPDATE idempotent_answers SET leased_until = now() + interval '1 second'");
    await alive.renew();
    const [row] = await database.query<{ held: boolean }>(
      "SELECT leased_until > now() + interval '8 seconds' AS held FROM idempotent_answers",
    );
    expect(row?.held).toBe(true);
    await alive.onApplicationShutdown();
    await expect(responses().claim(scope, 'digest')).resolves.toHaveProperty('claim');
  });

  it('of a lost claim do not replace a newer claim', async () => {
    const slow = responses();
    const lost = await slow.claim(scope, 'digest');
    await database.query("UPDATE idempotent_answers SET leased_until = now() - interval '1 second'");
    await responses().claim(scope, 'digest');
    if ('claim' in lost)
      await slow.keep(lost.claim, { status: 200, headers: {}, body: 'late', endsAt: null });
    const [row] = await database.query<{ status: number | null }>('SELECT status FROM idempotent_answers');
    expect(row?.status).toBeNull();
  });

  it('expire after 24 h and are then deleted', async () => {
    const store = responses();
    const first = await store.claim(scope, 'digest');
    if ('claim' in first)
      await store.keep(first.claim, { status: 200, headers: {}, body: 'old', endsAt: null });
    expect(await store.claim(scope, 'digest')).toMatchObject({ kept: { body: 'old' } });
    await database.query("UPDATE idempotent_answers SET expires_at = now() - interval '1 second'");
    const next = await store.claim(scope, 'other');
    expect('claim' in next).toBe(true);
    await database.query("UPDATE idempotent_answers SET expires_at = now() - interval '1 second'");
    await store.sweep();
    expect(await database.query('SELECT 1 FROM idempotent_answers')).toEqual([]);
  });
});

describe('while the database is unavailable', () => {
  it('a POST with a key is 503 within 5 s, one without still works, and both work after recovery', async () => {
    const proxy = await TcpProxy.start(test.infra.portOf('postgres'));
    const url = new URL(test.infra.databaseUrl);
    url.port = String(proxy.port);
    const gateway = await startGateway({ ...test.config, databaseUrl: url.href }, silent);
    const call = caller(gateway.url);
    const request = { key: test.services.key(), json: AGENT, headers: { 'idempotency-key': 'frozen' } };
    try {
      proxy.freeze();
      const startedAt = performance.now();
      const refused = await call('POST', '/api/agents', request);
      expect([refused.status, refused.body.detail?.code]).toEqual([503, 'service_unavailable']);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect((await call('POST', '/api/agents', { key: request.key, json: AGENT })).status).toBe(201);
      proxy.thaw();
      const isBack = async (): Promise<void> =>
        expect((await call('POST', '/api/agents', request)).status).toBe(201);
      await eventually(isBack, { timeoutMs: 20_000 });
    } finally {
      proxy.thaw();
      await gateway.stop();
      await proxy.stop();
    }
  });
});
