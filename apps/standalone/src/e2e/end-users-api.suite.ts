import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { fresh, PEOPLE } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

interface EndUser extends Record<string, unknown> {
  readonly externalId: string;
  readonly displayName: string | null;
  readonly agentCount: number;
}

interface EndUserPage extends Record<string, unknown> {
  readonly items: readonly EndUser[];
  readonly nextCursor: string | null;
}

/** The guarantees for end users over the public API. */
export const describeEndUsersApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  const put = (externalId: string, body: unknown = {}, gateway = 0) =>
    api.call<EndUser>('PUT', `${PEOPLE}/${externalId}`, { body, gateway });
  const namesOf = async (query: string): Promise<readonly string[]> =>
    (await api.get<EndUserPage>(`${PEOPLE}?${query}`)).body.items.map(({ externalId }) => externalId);

  describe('an end user', () => {
    it('is created by the first put and updated by later ones, which keep what they leave out', async () => {
      const externalId = fresh('ada_@.:+-');
      const given = {
        displayName: 'Ada 🦉',
        metadata: { age: 36, vip: true, note: null, city: 'Zürich' },
        tags: ['a', 'b'],
      };
      const created = await put(externalId, given);
      expect([created.status, created.body]).toEqual([
        201,
        {
          externalId,
          ...given,
          status: 'active',
          suspendedAt: null,
          createdAt: expect.any(String) as string,
          updatedAt: created.body['createdAt'],
          lastActiveAt: null,
          agentCount: 0,
          policy: null,
        },
      ]);
      const kept = await put(externalId, { tags: null });
      expect([kept.status, kept.body]).toMatchObject([200, { ...given, tags: [] }]);
      const cleared = await put(externalId, { displayName: null, metadata: { only: 1 } });
      expect(cleared.body).toMatchObject({ displayName: null, metadata: { only: 1 }, tags: [] });
      const read = await api.get(`${PEOPLE}/${externalId}`);
      expect([read.status, read.body]).toMatchObject([200, { ...cleared.body, agents: [] }]);
    });

    it('is created once by a hundred concurrent puts', async () => {
      const externalId = fresh('raced');
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, n) => put(externalId, { metadata: { n } }, n % gateways)),
      );
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).toHaveLength(1);
      expect(statuses.filter((status) => status === 200)).toHaveLength(99);
      expect(await namesOf(`externalIdPrefix=${externalId}`)).toEqual([externalId]);
    });

    it('has fields within bounds', async () => {
      const externalId = fresh('bounds');
      const metadata = { text: 'x'.repeat(16_384 - '{"text":""}'.length) };
      const members = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${String(n)}`, n]));
      const tags = (count: number) =>
        Array.from({ length: count }, (_, n) => `${'t'.repeat(63)}${String(n)}`);
      for (const fits of [
        { displayName: 'x'.repeat(256), tags: tags(8), metadata },
        { metadata: members(50) },
      ])
        expect((await put(externalId, fits)).status).toBe(
          fits === undefined ? 0 : fits.metadata === metadata ? 201 : 200,
        );
      for (const [path, refused] of [
        ['displayName', 'x'.repeat(257)],
        ['displayName', 5],
        ['tags', tags(9)],
        ['tags', ['same', 'same']],
        ['tags', ['']],
        ['tags', ['x'.repeat(65)]],
        ['metadata', members(51)],
        ['metadata', { text: `${metadata.text}x` }],
        ['metadata', { text: 'é'.repeat(9_000) }],
        ['metadata', { nested: {} }],
        ['metadata', []],
      ] as const) {
        const response = await put(externalId, { [path]: refused });
        expect([response.status, codeOf(response)]).toEqual([400, 'invalid_request']);
        const problem = { path, message: expect.stringMatching(/^must /) as string };
        expect(response.body).toMatchObject({ detail: { fields: [problem] } });
      }
    });

    it('has an external id of the allowed characters; any other names nobody', async () => {
      expect((await put(fresh('x').padEnd(128, 'x'))).status).toBe(201);
      for (const externalId of ['x'.repeat(129), 'a b', 'a%2Fb', '%C3%A9']) {
        const refused = await put(encodeURI(decodeURI(externalId)));
        expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_external_id']);
        for (const method of ['GET', 'DELETE']) {
          const missing = await api.call(method, `${PEOPLE}/${encodeURI(decodeURI(externalId))}`);
          expect([missing.status, codeOf(missing)]).toEqual([404, 'end_user_not_found']);
        }
      }
    });

    it('can be read with any key, and changed only with the scope manage', async () => {
      const externalId = fresh('scoped');
      await put(externalId);
      const { body } = await api.post<{ key: string }>('/api/v1/keys', {
        name: 'deployer',
        scopes: ['deploy'],
      });
      const options = { key: body.key };
      expect((await api.get(`${PEOPLE}/${externalId}`, options)).status).toBe(200);
      for (const method of ['PUT', 'DELETE']) {
        const refused = await api.call(method, `${PEOPLE}/${externalId}`, { ...options, body: {} });
        expect([refused.status, refused.body]).toMatchObject([403, { detail: { requiredScope: 'manage' } }]);
      }
    });

    it('shows its agents', async () => {
      const externalId = fresh('owner');
      await put(externalId);
      const { id } = await api.runningAgent({ externalUserId: externalId });
      const { body } = await api.get<EndUser & { agents: { id: string }[] }>(`${PEOPLE}/${externalId}`);
      expect([body.agentCount, body.agents.map((agent) => agent.id)]).toEqual([1, [id]]);
      const { body: agent } = await api.get<{ appUrl: string | null }>(`/api/agents/${id}`);
      expect(body.agents).toMatchObject([{ appUrl: agent.appUrl }]);
      expect(agent.appUrl).toContain(id.replace('_', '-'));
      const page = await api.get<EndUserPage>(`${PEOPLE}?externalIdPrefix=${externalId}`);
      expect(page.body.items).toMatchObject([{ externalId, agentCount: 1 }]);
    });

    it.each(['constructor', '__proto__'])(
      'has no agents at first, even if its external id is %s',
      async (externalId) => {
        expect((await put(externalId)).body).toMatchObject({ externalId, agentCount: 0 });
        expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      },
    );

    it('was active when its agent was last used, with whatever credential', async () => {
      const externalId = fresh('active');
      const { id } = await api.runningAgent({ externalUserId: externalId });
      const lastActiveAt = async () => (await api.get(`${PEOPLE}/${externalId}`)).body['lastActiveAt'];
      expect(await lastActiveAt()).toBeNull();
      const before = new Date().toISOString();
      await api.chat(id, 'hello');
      await eventually(async () => {
        const at = await lastActiveAt();
        expect(typeof at === 'string' && at >= before).toBe(true);
      });
      expect(await namesOf(`externalIdPrefix=${externalId}&lastActiveAfter=${before}`)).toEqual([externalId]);
    });

    it('gets its agent once from a hundred concurrent requests, and another one after its deletion', async () => {
      const externalId = fresh('sole');
      const path = `${PEOPLE}/${externalId}/agents`;
      const gateways = stack().urls.length;
      const create = (n: number) =>
        api.post<{ id: string }>(
          path,
          { templateId: 'blank', labels: { n: String(n) } },
          { gateway: n % gateways },
        );
      const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => create(n)));
      const statuses = responses.map(({ status }) => status);
      expect([201, 200].map((status) => statuses.filter((one) => one === status).length)).toEqual([1, 99]);
      const ids = new Set(responses.map(({ body }) => body.id));
      expect(ids.size).toBe(1);
      const [id = ''] = ids;
      const made = await api.inState(id, 'running');
      expect(made).toMatchObject({ name: externalId, externalUserId: externalId });
      const again = await create(7);
      expect([again.status, again.headers.get('location')]).toEqual([200, `/api/agents/${id}`]);

      const other = await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      const listed = await api.get<{ items: { id: string }[] }>(path);
      expect(listed.body.items.map((agent) => agent.id)).toEqual([other.id, id]);
      expect((await api.get(`${PEOPLE}/${externalId}`)).body).toMatchObject({ agentCount: 2 });

      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
      const next = await create(8);
      expect([next.status, [id, other.id].includes(next.body.id)]).toEqual([201, false]);
    });

    it('gets no agent, and is not created, by a request that is refused', async () => {
      const externalId = fresh('refused');
      const path = `${PEOPLE}/${externalId}/agents`;
      const { name } = await api.runningAgent({ templateId: 'blank' });
      for (const [body, code] of [
        [{ templateId: 'nothing' }, 'unknown_template'],
        [{}, 'invalid_request'],
        [{ templateId: 'blank', name: '' }, 'invalid_request'],
        [{ templateId: 'blank', name }, 'agent_name_taken'],
      ] as const)
        expect(codeOf(await api.post(path, body))).toBe(code);
      expect((await api.get(`${PEOPLE}/${externalId}`)).status).toBe(404);
      expect((await api.get(path)).status).toBe(404);
      // An attempt that was refused holds nothing.
      expect((await api.post(path, { templateId: 'blank', externalUserId: 7 })).status).toBe(201);
      expect(codeOf(await api.post(path, { templateId: 'nothing' }))).toBe('unknown_template');
      for (const response of [
        await api.post(`${PEOPLE}/a%20b/agents`, { templateId: 'blank' }),
        await api.post('/api/agents', { name: fresh('a'), templateId: 'blank', externalUserId: 'a b' }),
      ])
        expect([response.status, codeOf(response)]).toEqual([400, 'invalid_external_id']);
      for (const scope of ['manage', 'deploy']) {
        const { body } = await api.post<{ key: string }>('/api/v1/keys', { name: scope, scopes: [scope] });
        const refused = await api.post(path, { templateId: 'blank' }, { key: body.key });
        expect([refused.status, codeOf(refused)]).toEqual([403, 'missing_scope']);
      }
    });

    it('is created by the creation of an agent for it, unless that is refused', async () => {
      const externalId = fresh('implied');
      const agent = { name: externalId, templateId: 'blank', externalUserId: externalId };
      const { id } = await api.runningAgent(agent);
      expect((await api.get<EndUser>(`${PEOPLE}/${externalId}`)).body).toMatchObject({ agentCount: 1 });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({
        name: externalId,
        externalUserId: externalId,
      });
      const other = fresh('refused');
      const refused = await api.post('/api/agents', { ...agent, externalUserId: other });
      expect([refused.status, codeOf(refused)]).toEqual([409, 'agent_name_taken']);
      expect((await api.get(`${PEOPLE}/${other}`)).status).toBe(404);
      expect((await put(other)).status).toBe(201);
    });

    it('is gone after its deletion with its agents, whose names are free, and a new one has nothing of it', async () => {
      const externalId = fresh('leaver');
      await put(externalId, { displayName: 'Old', tags: ['old'] });
      const { id, name } = await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      expect((await api.get(`/api/agents/${id}`)).status).toBe(404);
      for (const method of ['GET', 'DELETE'])
        expect((await api.call(method, `${PEOPLE}/${externalId}`)).status).toBe(404);
      expect(await namesOf(`externalIdPrefix=${externalId}`)).toEqual([]);
      expect((await api.post('/api/agents', { name, templateId: 'blank' })).status).toBe(201);
      const again = await put(externalId);
      expect([again.status, again.body]).toMatchObject([201, { displayName: null, tags: [], agentCount: 0 }]);
    });
  });

  describe('a token of an end user', () => {
    const minted = async (scopes: readonly string[], more: object = {}) => {
      const externalId = fresh('holder');
      await put(externalId);
      const { id } = await api.runningAgent({ externalUserId: externalId, instructions: 'private' });
      const { status, body } = await api.post<{ token: string; tokenId: string }>(
        `${PEOPLE}/${externalId}/tokens`,
        { scopes, ...more },
      );
      expect([status, body]).toMatchObject([201, { externalId, agentId: id, scopes, ttlSeconds: 900 }]);
      return { externalId, id, key: body.token };
    };

    it('reaches its agent within its scopes, and nothing else', async () => {
      const { externalId, id, key } = await minted(['chat']);
      const other = await api.runningAgent();
      expect((await api.chat(id, 'hello', { key })).body.response).toContain('hello');
      const read = await api.get(`/api/agents/${id}`, { key });
      expect([read.status, Object.keys(read.body)]).toEqual([200, expect.arrayContaining(['id', 'state'])]);
      for (const hidden of ['externalId', 'externalUserId', 'instructions', 'labels', 'source', 'lastError'])
        expect(read.body).not.toHaveProperty(hidden);
      expect((await api.chat(other.id, 'hello', { key })).status).toBe(404);
      for (const path of [`/api/agents/${id}/logs`, `/api/agents/${id}/env`, '/api/agents', PEOPLE]) {
        const refused = await api.get(path, { key });
        expect([path, refused.status, codeOf(refused)]).toEqual([path, 403, 'token_scope']);
      }
      expect((await api.get<EndUser>(`${PEOPLE}/${externalId}`)).body['lastActiveAt']).toEqual(
        expect.any(String),
      );
    });

    it('is refused everywhere once its revocation has returned', async () => {
      const { externalId, id, key } = await minted(['logs']);
      expect((await api.get(`/api/agents/${id}/logs`, { key })).status).toBe(200);
      const revoked = await api.call('DELETE', `${PEOPLE}/${externalId}/tokens`);
      expect([revoked.status, revoked.body]).toEqual([200, { revoked: 1 }]);
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}/tokens`)).body).toEqual({ revoked: 0 });
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          api.get(`/api/agents/${id}/logs`, { key, gateway: n % gateways }),
        ),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]));
    });

    it('dies with its end user', async () => {
      const { externalId, id, key } = await minted(['chat']);
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      expect((await api.get(`/api/agents/${id}`, { key })).status).toBe(401);
    });

    it('needs to know its agent, and has scopes and a time to live within bounds', async () => {
      const externalId = fresh('several');
      const mint = (body: unknown) => api.post(`${PEOPLE}/${externalId}/tokens`, body);
      expect(codeOf(await mint({}))).toBe('end_user_not_found');
      await put(externalId);
      expect(codeOf(await mint({}))).toBe('agent_not_found');
      const { id } = await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      expect(codeOf(await mint({}))).toBe('agent_id_required');
      expect(codeOf(await mint({ agentId: (await api.runningAgent()).id }))).toBe('agent_not_found');
      for (const ttlSeconds of [30, 3_600])
        expect((await mint({ agentId: id, ttlSeconds })).status).toBe(201);
      for (const body of [{ ttlSeconds: 29 }, { ttlSeconds: 3_601 }, { scopes: [] }, { scopes: ['admin'] }])
        expect(codeOf(await mint({ agentId: id, ...body }))).toBe('invalid_request');
    });
  });

  describe('the list of end users', () => {
    it('pages newest first, while others are created, and filters by tag, status and literal prefix', async () => {
      const tag = fresh('tag');
      const names = ['a_b', 'aXb', 'a%b'].map((name) => `${tag}.${name.replace('%', '+')}`);
      for (const name of names) await put(name, { tags: [tag, 'other'] });
      const first = await api.get<EndUserPage>(`${PEOPLE}?tag=${tag}&limit=2`);
      await put(fresh('between'), { tags: [tag] });
      const rest = await namesOf(`tag=${tag}&limit=2&cursor=${first.body.nextCursor ?? ''}`);
      expect([...first.body.items.map(({ externalId }) => externalId), ...rest]).toEqual(names.toReversed());
      expect(await namesOf(`externalIdPrefix=${tag}.a_`)).toEqual([names[0]]);
      expect(await namesOf(`externalIdPrefix=${tag}.a%25`)).toEqual([]);
      expect(await namesOf(`tag=${tag.slice(0, -1)}`)).toEqual([]);
      expect(await namesOf(`tag=${tag}&status=suspended`)).toEqual([]);
      expect(await namesOf(`tag=${tag}&status=active&limit=1`)).toHaveLength(1);
      expect(await namesOf(`tag=${tag}&lastActiveBefore=2100-01-01`)).toEqual([]);
    });

    it.each(['status=gone', 'limit=0', 'limit=201', 'cursor=nonsense', 'lastActiveAfter=yesterday'])(
      'refuses %s',
      async (query) => {
        const refused = await api.get(`${PEOPLE}?${query}`);
        expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request']);
      },
    );
  });
};
