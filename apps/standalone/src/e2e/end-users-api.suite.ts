import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { fresh, PEOPLE, type EndUser, type EndUserPage } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

/** A call whose path is sent as it is, which `fetch` would resolve. Returns the status and the code of the error. */
const callAsIs = async (stack: Stack, method: string, path: string): Promise<readonly unknown[]> => {
  const { port } = new URL(stack.urls[0] ?? '');
  const headers = { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' };
  const sent = http.request({ host: '127.0.0.1', port, method, path, headers });
  sent.end(method === 'PUT' ? '{}' : undefined);
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
  const { detail } = JSON.parse(await text(response)) as { detail: { code: string } };
  return [response.statusCode, detail.code];
};

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

    it('is created once by twenty concurrent puts', async () => {
      const externalId = fresh('raced');
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) => put(externalId, { metadata: { n } }, n % gateways)),
      );
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).toHaveLength(1);
      expect(statuses.filter((status) => status === 200)).toHaveLength(19);
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
        { displayName: '🦉'.repeat(256), tags: tags(8), metadata },
        { metadata: members(50) },
      ])
        expect((await put(externalId, fits)).status).toBe(
          fits === undefined ? 0 : fits.metadata === metadata ? 201 : 200,
        );
      for (const [path, refused] of [
        ['displayName', '🦉'.repeat(257)],
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

    it.each(['.', '..', '%2e', '%2E.'])(
      'has another external id than %s, which no URL can name',
      async (id) => {
        const request = (method: string) => callAsIs(stack(), method, `${PEOPLE}/${id}`);
        expect(await request('PUT')).toEqual([400, 'invalid_external_id']);
        expect(await request('GET')).toEqual([404, 'end_user_not_found']);
        const creation = { name: fresh('dots'), templateId: 'blank', externalUserId: decodeURIComponent(id) };
        const refused = await api.post('/api/agents', creation);
        expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_external_id']);
      },
    );

    it('has an external id of the allowed characters; any other external id is refused or unknown', async () => {
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
