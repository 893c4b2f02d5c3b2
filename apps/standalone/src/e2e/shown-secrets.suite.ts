import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { anOwner, PEOPLE, type AgentOwner } from './end-users.fixture.js';
import { ACCOUNTS, openAccount, type OpenedAccount } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Replays of responses that show a key or a token, over the public API. */
export const describeShownSecrets = (stack: () => Stack): void => {
  const api = new Api(stack);

  /** A POST under an Idempotency-Key of its own, on every gateway in turn. */
  const repeatable = (path: string, body: object = {}, key?: string) => {
    const options = {
      headers: { 'idempotency-key': crypto.randomUUID() },
      ...(key === undefined ? {} : { key }),
    };
    let calls = 0;
    return async (): Promise<ApiResponse> =>
      await api.post(path, body, { ...options, gateway: calls++ % stack().urls.length });
  };
  const expectReplay = async (post: () => Promise<ApiResponse>, first: ApiResponse): Promise<void> => {
    const again = await post();
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
      first.status,
      first.body,
      'true',
    ]);
  };
  const expectGone = async (post: () => Promise<ApiResponse>): Promise<void> => {
    // The second call finds that the response is forgotten.
    for (const response of [await post(), await post()])
      expect([response.status, codeOf(response)]).toEqual([409, 'idempotency_answer_gone']);
  };
  const shown = async (post: () => Promise<ApiResponse>): Promise<ApiResponse> => {
    const first = await post();
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    return first;
  };

  describe('a repeated POST that shows a secret', () => {
    let account: OpenedAccount;
    let owner: AgentOwner;
    beforeAll(async () => {
      account = await openAccount(api, 'Secrets');
      owner = await anOwner(api, { templateId: 'blank' });
    }, 60_000);

    it('returns a minted key until the key is revoked, and leaves it unused', async () => {
      const mint = repeatable('/api/v1/keys', { name: 'shown', scopes: ['read'] });
      const first = await shown(mint);
      await expectReplay(mint, first);
      const { body } = await api.get<{ items: Record<string, unknown>[] }>('/api/v1/keys');
      expect(body.items.find(({ id }) => id === first.body['id'])?.['lastUsedAt']).toBeNull();
      await api.call('DELETE', `/api/v1/keys/${String(first.body['id'])}`);
      await expectGone(mint);
    });

    it('returns the first keys of an account, also while it is suspended, until they are revoked', async () => {
      const open = repeatable(ACCOUNTS, { name: 'Shown' });
      const first = await shown(open);
      const path = `${ACCOUNTS}/${String(first.body['id'])}`;
      const another = repeatable(`${path}/keys`);
      const second = await shown(another);
      await api.call('PUT', path, { body: { suspended: true } });
      await expectReplay(open, first);
      await expectReplay(another, second);
      await api.call('PUT', path, { body: { suspended: false } });
      const key = String(first.body['key']);
      const { body } = await api.get<{ items: { id: string }[] }>('/api/v1/keys', { key });
      const own = body.items.filter(({ id }) => id !== second.body['id']);
      expect(own).toHaveLength(1);
      for (const id of [String(second.body['id']), own[0]?.id ?? ''])
        expect((await api.call('DELETE', `/api/v1/keys/${id}`, { key })).status).toBe(204);
      await expectGone(open);
      await expectGone(another);
    });

    it("returns an end user's token, also while the end user is suspended, until it is revoked", async () => {
      const path = `${PEOPLE}/${owner.externalId}`;
      const mint = repeatable(`${path}/tokens`, { scopes: ['logs'] });
      const first = await shown(mint);
      await api.post(`${path}/suspend`);
      await expectReplay(mint, first);
      await api.post(`${path}/resume`);
      await expectReplay(mint, first);
      expect((await api.call('DELETE', `${path}/tokens`)).body).toEqual({ revoked: 1 });
      await expectGone(mint);
    });

    it("returns a webhook's token until it is rotated", async () => {
      const rotate = repeatable(`/api/webhooks/${owner.agentId}/token/rotate`);
      const first = await shown(rotate);
      await expectReplay(rotate, first);
      await shown(repeatable(`/api/webhooks/${owner.agentId}/token/rotate`));
      await expectGone(rotate);
    });

    it('is 409 once the agent of the token is deleted', async () => {
      const created = await api.post<{ id: string }>(
        '/api/agents',
        { name: 'Shown', templateId: 'blank', externalUserId: 'shown' },
        { key: account.key },
      );
      const { id } = created.body;
      const mint = repeatable(`${PEOPLE}/shown/tokens`, {}, account.key);
      const rotate = repeatable(`/api/webhooks/${id}/token/rotate`, {}, account.key);
      await shown(mint);
      await shown(rotate);
      expect((await api.call('DELETE', `/api/agents/${id}`, { key: account.key })).status).toBe(204);
      await expectGone(mint);
      expect(codeOf(await rotate())).toBe('agent_not_found');
    });

    it('is 404 once the end user of the token is deleted, and 409 if another has its external id', async () => {
      const person = await anOwner(api, { templateId: 'blank' });
      const path = `${PEOPLE}/${person.externalId}`;
      const mint = repeatable(`${path}/tokens`);
      await shown(mint);
      expect((await api.call('DELETE', path)).status).toBe(204);
      expect(codeOf(await mint())).toBe('end_user_not_found');
      expect((await api.call('PUT', path, { body: {} })).status).toBe(201);
      await expectGone(mint);
    });
  });
};
