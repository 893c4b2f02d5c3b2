import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { anOwner, fresh, PEOPLE, type EndUser } from './end-users.fixture.js';
import { appendToLog } from './log.fixture.js';
import { openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';

/** What a token of an end user permits, over the public API. */
export const describeEndUserTokens = (stack: () => Stack): void => {
  const api = new Api(stack);
  const put = (externalId: string, body: unknown = {}) =>
    api.call<EndUser>('PUT', `${PEOPLE}/${externalId}`, { body });

  const idOf = async (externalId: string): Promise<string> => {
    const sql = 'SELECT id FROM end_users.end_user_list WHERE external_id = $1';
    const [row] = (await queryTables(stack().dataDir, sql, [externalId])) as { id: string }[];
    return row?.id ?? '';
  };

  describe('a token of an end user', () => {
    const minted = async (scopes: readonly string[], templateId = 'blank') => {
      const externalId = fresh('holder');
      await put(externalId);
      const { id } = await api.runningAgent({
        templateId,
        externalUserId: externalId,
        instructions: 'private',
      });
      const { status, body } = await api.post<{ token: string; tokenId: string }>(
        `${PEOPLE}/${externalId}/tokens`,
        { scopes },
      );
      expect([status, body]).toMatchObject([201, { externalId, agentId: id, scopes, ttlSeconds: 900 }]);
      return { externalId, id, key: body.token };
    };

    it('reaches its agent within its scopes, and nothing else', async () => {
      const { externalId, id, key } = await minted(['chat'], 'echo');
      const other = await api.runningAgent({ templateId: 'blank' });
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
        Array.from({ length: 20 }, (_, n) =>
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
      expect(codeOf(await mint({ agentId: (await api.runningAgent({ templateId: 'blank' })).id }))).toBe(
        'agent_not_found',
      );
      for (const ttlSeconds of [30, 3_600])
        expect((await mint({ agentId: id, ttlSeconds })).status).toBe(201);
      for (const body of [{ ttlSeconds: 29 }, { ttlSeconds: 3_601 }, { scopes: [] }, { scopes: ['admin'] }])
        expect(codeOf(await mint({ agentId: id, ...body }))).toBe('invalid_request');
      expect((await mint({ agentId: id })).body).toMatchObject({ scopes: ['chat'], ttlSeconds: 900 });
    });

    it('can be minted with the scope manage, if it only reads logs, and otherwise needs deploy too', async () => {
      const { externalId } = await anOwner(api, { templateId: 'blank' });
      const { body } = await api.post<{ key: string }>('/api/v1/keys', {
        name: 'manager',
        scopes: ['manage'],
      });
      const mint = (more: object) =>
        api.post(`${PEOPLE}/${externalId}/tokens`, more, { key: body.key, gateway: stack().urls.length - 1 });
      expect((await mint({ scopes: ['logs'] })).status).toBe(201);
      for (const more of [{}, { scopes: ['chat'] }, { scopes: ['logs', 'files'] }]) {
        const refused = await mint(more);
        expect([more, refused.status, refused.body]).toMatchObject([
          more,
          403,
          { detail: { code: 'missing_scope', requiredScope: 'deploy' } },
        ]);
      }
    });

    it('is one of at most 1,000, also if many are minted at the same time', async () => {
      const { key, id: accountId } = await openAccount(api, fresh('minting'));
      const externalId = fresh('holder');
      const agentId = await runningAgentOf(api, key, { templateId: 'blank', externalUserId: externalId });
      const endUserId = await idOf(externalId);
      const expiresAt = new Date(Date.now() + 600_000).toISOString();
      await appendToLog(
        stack().dataDir,
        accountId,
        `endUserTokens-${endUserId}`,
        Array.from({ length: 998 }, () => ({
          type: 'EndUserTokenMinted',
          data: {
            ...{ endUserId, accountId, agentId, tokenId: newId('tok'), scopes: ['logs'], expiresAt },
            mintedAt: new Date().toISOString(),
          },
        })),
        'no_stream',
      );
      const path = `${PEOPLE}/${externalId}/tokens`;
      const mint = (n: number): Promise<ApiResponse> =>
        api.post(path, { scopes: ['logs'] }, { key, gateway: n % stack().urls.length });
      const minted = await Promise.all(Array.from({ length: 4 }, (_, n) => mint(n)));
      expect(minted.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 409, 409]);
      for (const refused of minted.filter(({ status }) => status === 409))
        expect(codeOf(refused)).toBe('too_many_tokens');
      expect((await api.call('DELETE', path, { key })).body).toEqual({ revoked: 1_000 });
      expect((await mint(0)).status).toBe(201);
    });
  });
};
