import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { fresh, PEOPLE, type EndUser } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

/** What a token of an end user is good for, over the public API. */
export const describeEndUserTokens = (stack: () => Stack): void => {
  const api = new Api(stack);
  const put = (externalId: string, body: unknown = {}) =>
    api.call<EndUser>('PUT', `${PEOPLE}/${externalId}`, { body });

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
};
