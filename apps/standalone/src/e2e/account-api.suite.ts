import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The guarantees for an account beyond its agents: names, lists, keys, idempotent calls. */
export const describeAccountApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('names', () => {
    it('are given to exactly one of twenty concurrent creates', async () => {
      const name = `raced ${String(Date.now())}`;
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          api.post<{ id: string }>('/api/agents', { name, templateId: 'blank' }, { gateway: n % gateways }),
        ),
      );
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
      const losers = responses.filter(({ status }) => status === 409);
      expect(losers).toHaveLength(19);
      const winner = responses.find(({ status }) => status === 201)?.body.id;
      for (const loser of losers)
        expect(loser.body).toMatchObject({ detail: { code: 'agent_name_taken', agentId: winner } });
    });

    it('and external ids are each unique in the account', async () => {
      const first = await api.post<{ id: string }>('/api/agents', {
        name: 'ext one',
        templateId: 'blank',
        externalId: 'ext-1',
      });
      const second = await api.post('/api/agents', {
        name: 'ext two',
        templateId: 'blank',
        externalId: 'ext-1',
      });
      expect(second.status).toBe(409);
      expect(second.body).toMatchObject({ detail: { code: 'external_id_taken', agentId: first.body.id } });
      expect(
        (await api.post('/api/agents', { name: 'ext two', templateId: 'blank', externalId: 'ext-2' })).status,
      ).toBe(201);
    });
  });

  describe('lists', () => {
    it('page through every agent once, newest first, while others are created', async () => {
      const made: string[] = [];
      for (let n = 0; n < 3; n++) {
        const { body } = await api.post<{ id: string }>('/api/agents', {
          name: `paged ${String(n)}`,
          templateId: 'blank',
          labels: { paged: 'yes' },
        });
        made.push(body.id);
      }
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = await api.get<{ items: { id: string }[]; nextCursor: string | null }>(
          `/api/agents?label=paged%3Dyes&limit=2${cursor}`,
        );
        seen.push(...page.body.items.map(({ id }) => id));
        cursor = page.body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
        if (seen.length === 2)
          await api.post('/api/agents', {
            name: 'paged between',
            templateId: 'blank',
            labels: { paged: 'yes' },
          });
      } while (cursor !== '');
      expect(seen).toEqual(made.reverse());
    });
  });

  describe('keys', () => {
    it('are refused everywhere once their revocation has returned: none of 20 parallel calls succeeds', async () => {
      const minted = await api.post<{ id: string; key: string }>('/api/v1/keys', {
        name: 'short-lived',
        scopes: ['deploy'],
      });
      expect(minted.status).toBe(201);
      const { key } = minted.body;
      expect((await api.get('/api/agents', { key })).status).toBe(200);
      expect((await api.call('DELETE', `/api/v1/keys/${minted.body.id}`)).status).toBe(204);
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) => api.get('/api/agents', { key, gateway: n % gateways })),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]));
    });

    it('mint and revoke no keys beyond themselves: in scopes, or in time', async () => {
      const mint = (body: object, key?: string) =>
        api.post<{ id: string; key: string; expiresAt: string | null }>(
          '/api/v1/keys',
          { name: 'bounded', ...body },
          key === undefined ? {} : { key },
        );
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { id, key } = (await mint({ scopes: ['manage'], expiresAt })).body;
      const beyond = await mint({ scopes: ['deploy'] }, key);
      expect([beyond.status, beyond.body]).toMatchObject([403, { detail: { requiredScope: 'deploy' } }]);
      const later = new Date(Date.now() + 7_200_000).toISOString();
      for (const body of [{ scopes: ['read'] }, { scopes: ['manage'], expiresAt: later }])
        expect((await mint(body, key)).body).toMatchObject({ expiresAt });

      const revoke = (keyId: string) => api.call('DELETE', `/api/v1/keys/${keyId}`, { key });
      const [stronger, equal] = [await mint({ scopes: ['deploy'] }), await mint({ scopes: ['manage'] })];
      const refused = await revoke(stronger.body.id);
      expect([refused.status, codeOf(refused)]).toEqual([403, 'missing_scope']);
      expect(refused.body).toMatchObject({ detail: { requiredScope: 'deploy' } });
      expect((await api.get('/api/agents', { key: stronger.body.key })).status).toBe(200);
      for (const keyId of [equal.body.id, id]) expect((await revoke(keyId)).status).toBe(204);
      expect((await api.get('/api/agents', { key })).status).toBe(401);
    });

    it('without the required scope are refused, naming that scope', async () => {
      const { body } = await api.post<{ key: string }>('/api/v1/keys', { name: 'reader', scopes: ['read'] });
      const refused = await api.post('/api/agents', { name: 'nope', templateId: 'echo' }, { key: body.key });
      expect([refused.status, codeOf(refused)]).toEqual([403, 'missing_scope']);
      expect(refused.body).toMatchObject({ detail: { requiredScope: 'deploy' } });
    });
  });

  describe('an idempotency key', () => {
    it('creates one agent when a create is sent twice', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const body = { name: `once ${String(Date.now())}`, templateId: 'blank' };
      const first = await api.post<{ id: string }>('/api/agents', body, { headers });
      const last = stack().urls.length - 1;
      const second = await api.post<{ id: string }>('/api/agents', body, { headers, gateway: last });
      expect([second.status, second.body.id]).toEqual([201, first.body.id]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      const other = await api.post('/api/agents', { ...body, name: 'another' }, { headers });
      expect([other.status, codeOf(other)]).toEqual([409, 'idempotency_key_reused']);
    });
  });
};
