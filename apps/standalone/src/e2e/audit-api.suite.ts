import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, codeOf, type CallOptions } from './api.fixture.js';
import { fresh, mintToken, PEOPLE } from './end-users.fixture.js';
import { Files } from './files.fixture.js';
import { openAccount } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

interface Act {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string | null };
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

interface ActPage extends Record<string, unknown> {
  readonly items: readonly Act[];
  readonly nextCursor: string | null;
}

/** What the audit shows, and of end users in particular. */
export const describeAuditApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  const audit = async (query: string): Promise<readonly Act[]> =>
    (await api.get<{ items: readonly Act[] }>(`/api/v1/audit?limit=200&${query}`)).body.items;
  const actionsOf = async (query: string): Promise<readonly string[]> =>
    (await audit(query)).map(({ action }) => action);

  describe('the audit', () => {
    it('filters by actor, resource, action and both bounds of time, and pages through each act once', async () => {
      const account = await openAccount(api, fresh('audited'));
      const own = { key: account.key };
      const end = stack().urls.length - 1;
      const ofAccount = async (query: string): Promise<ActPage> =>
        (await api.get<ActPage>(`/api/v1/audit?${query}`, { ...own, gateway: end })).body;
      const mint = async (scopes: readonly string[]): Promise<{ id: string; key: string }> =>
        (await api.post<{ id: string; key: string }>('/api/v1/keys', { name: 'other', scopes }, own)).body;
      const [first, second, third] = [await mint(['deploy']), await mint(['read']), await mint(['manage'])];
      await api.call('DELETE', `/api/v1/keys/${second.id}`, own);
      await api.call('PUT', `${PEOPLE}/ada`, { body: {}, key: third.key });
      const all = await eventually(
        async () => {
          const { items } = await ofAccount(`actor=${account.keyId}`);
          expect(items).toHaveLength(4);
          expect((await ofAccount(`actor=${third.id}`)).items).toHaveLength(1);
          return items;
        },
        { timeoutMs: 30_000 },
      );
      const actsOf = async (query: string): Promise<readonly string[]> =>
        (await ofAccount(query)).items.map(({ action, resource }) => `${action} ${String(resource.id)}`);
      const minted = [third, second, first].map(({ id }) => `key.mint ${id}`);
      expect(all.map(({ action, resource }) => `${action} ${String(resource.id)}`)).toEqual([
        `key.revoke ${second.id}`,
        ...minted,
      ]);
      expect(await actsOf(`resource=${second.id}`)).toEqual([`key.revoke ${second.id}`, minted[1]]);
      expect(await actsOf(`action=key.mint&actor=${account.keyId}`)).toEqual(minted);
      expect(await actsOf(`action=key.revoke&resource=${first.id}`)).toEqual([]);
      expect(await actsOf('resource=ada')).toEqual(['end_user.create ada']);

      const mine = `actor=${account.keyId}`;
      const times = all.map(({ at }) => at);
      const [newest = '', , , oldest = ''] = times;
      const shifted = (at: string, byMs: number): string => new Date(Date.parse(at) + byMs).toISOString();
      for (const from of [oldest, times[1] ?? '', newest, shifted(newest, 1)])
        for (const to of [newest, times[2] ?? '', oldest, shifted(oldest, -1)])
          expect((await ofAccount(`${mine}&from=${from}&to=${to}`)).items).toEqual(
            all.filter(({ at }) => from <= at && at <= to),
          );

      const paged: Act[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: ActPage = await ofAccount(`${mine}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(page.items).toHaveLength(1);
        paged.push(...page.items);
        cursor = page.nextCursor;
      }
      expect(paged).toEqual(all);
      expect((await ofAccount(`${mine}&limit=4`)).nextCursor).toBeNull();

      // Another account sees none of it, and a key without the scope nothing at all.
      expect((await api.get<ActPage>(`/api/v1/audit?resource=${first.id}`)).body.items).toEqual([]);
      const refused = await api.get('/api/v1/audit', { key: first.key });
      expect([refused.status, refused.body]).toMatchObject([403, { detail: { requiredScope: 'manage' } }]);
    });

    it('has a row of a 403, and none of a 401', async () => {
      const { key } = await openAccount(api, fresh('refused'));
      const { body } = await api.post<{ key: string; id: string }>(
        '/api/v1/keys',
        { name: 'other', scopes: ['read'] },
        { key },
      );
      expect((await api.get('/api/v1/keys', { key: body.key })).status).toBe(403);
      await api.call('DELETE', `/api/v1/keys/${body.id}`, { key });
      for (const revoked of [body.key, `${body.key.slice(0, -1)}_`, null])
        expect((await api.get('/api/agents', { key: revoked })).status).toBe(401);
      // The caller is known here, too.
      expect((await api.get('/agent/v1/self', { key })).status).toBe(401);
      const { body: read } = await api.post<{ key: string }>(
        '/api/v1/keys',
        { name: 'last', scopes: ['read'] },
        { key },
      );
      expect((await api.get('/api/v1/audit', { key: read.key })).status).toBe(403);
      await eventually(
        async () => {
          const query = '/api/v1/audit?action=access.refused';
          const { items } = (await api.get<ActPage>(query, { key })).body;
          expect(items.map(({ resource }) => resource.id)).toEqual(['GET /api/v1/audit', 'GET /api/v1/keys']);
        },
        { timeoutMs: 30_000 },
      );
    });

    it.each([
      ['limit', ['0', '201', '1.5']],
      ['action', ['key.forge', 'KEY.MINT', '']],
      ['from', ['yesterday', '2026-13-01']],
      ['to', ['1795477702131']],
      ['actor', ['', 'x'.repeat(257)]],
      ['resource', ['', 'x'.repeat(257)]],
      ['cursor', ['nonsense']],
    ])('refuses a %s that is none', async (name, values) => {
      for (const value of values) {
        const refused = await api.get(`/api/v1/audit?${name}=${value}`);
        expect([value, refused.status, codeOf(refused)]).toEqual([value, 400, 'invalid_request']);
        expect(refused.body).toMatchObject({ detail: { fields: [{ path: name }] } });
      }
      expect((await api.get('/api/v1/audit?limit=200')).status).toBe(200);
    });
  });

  describe('the audit of an end user', () => {
    it('has each act under its external id and each refusal once, with names and paths, and none of them after the deletion', async () => {
      const externalId = fresh('canary');
      const person = `${PEOPLE}/${externalId}`;
      const put = (displayName: string) => api.call('PUT', person, { body: { displayName } });
      await put('one');
      await put('two');
      const { id: agentId } = await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      const owner = { externalId, agentId };
      const tokens = [await mintToken(api, owner, ['files']), await mintToken(api, owner, ['logs'])];
      const [key = '', other = ''] = tokens;
      const path = `${externalId}.txt`;
      expect((await new Files(() => ({ ...stack(), key }), agentId).write(path, 'x')).status).toBe(200);
      const env = (options: CallOptions) => api.get(`/api/agents/${agentId}/env`, options);
      for (let gateway = 0; gateway < stack().urls.length; gateway++)
        for (const token of [key, key, other]) expect((await env({ key: token, gateway })).status).toBe(403);
      await api.call('DELETE', `${person}/tokens`);

      await eventually(
        async () => {
          expect(await actionsOf(`resource=${externalId}`)).toEqual([
            'token.revoke',
            'end_user.update',
            'end_user.create',
          ]);
          // A minute may end between two of the refusals.
          expect(
            (await actionsOf(`actor=${externalId}&action=access.refused`)).length,
          ).toBeGreaterThanOrEqual(2);
          expect(await actionsOf(`actor=${externalId}&action=file.write`)).toEqual(['file.write']);
        },
        { timeoutMs: 30_000 },
      );
      const done = await audit(`actor=${externalId}`);
      expect(new Set(done.map(({ actor }) => JSON.stringify(actor)))).toEqual(
        new Set([JSON.stringify({ kind: 'end_user', id: externalId })]),
      );
      expect(done.filter(({ action }) => action === 'access.refused').length).toBeLessThanOrEqual(4);
      expect(done).toContainEqual(
        expect.objectContaining({
          resource: { type: 'route', id: 'GET /api/agents/:agent_id/env' },
          outcome: 'refused',
          details: { code: 'token_scope' },
        }),
      );
      const mints = await audit('action=token.mint');
      expect(mints.filter(({ details }) => details['agentId'] === agentId)).toHaveLength(2);

      const moved = `${externalId}-moved.txt`;
      expect((await new Files(stack, agentId).move(path, moved)).status).toBe(200);
      const variable = `/api/agents/${agentId}/env/${externalId.replaceAll('-', '_')}`;
      expect((await api.call('PUT', variable, { body: { value: 'x', isSecret: false } })).status).toBe(200);
      const detailsOf = async (action: string): Promise<unknown> =>
        (await audit(`resource=${agentId}&action=${action}`)).map(({ details }) => details);
      const { name } = (await api.get<{ name: string }>(`/api/agents/${agentId}`)).body;
      await eventually(
        async () => expect(await detailsOf('env.set')).toMatchObject([{ key: variable.split('/').at(-1) }]),
        { timeoutMs: 30_000 },
      );
      expect(await detailsOf('agent.create')).toMatchObject([{ name }]);
      expect(await detailsOf('file.write')).toEqual([{ path }]);
      expect(await detailsOf('file.move')).toEqual([{ path, to: moved }]);

      expect((await api.call('DELETE', person)).status).toBe(204);
      // At once, although the audit does not have the deletion yet.
      expect(await detailsOf('agent.create')).toMatchObject([{ name: null }]);
      expect(await detailsOf('env.set')).toMatchObject([{ key: null }]);
      expect(await detailsOf('file.move')).toEqual([{ path: null, to: null }]);
      await eventually(
        async () => {
          const latest = await audit('action=end_user.delete');
          expect(latest[0]?.resource).toEqual({ type: 'end_user', id: null });
        },
        { timeoutMs: 30_000 },
      );
      const left = await audit(`resource=${agentId}`);
      expect(left.find(({ action }) => action === 'file.write')).toMatchObject({
        actor: { kind: 'end_user', id: null },
        details: { path: null },
      });
      expect(await audit(`actor=${externalId}`)).toEqual([]);
      expect(JSON.stringify([...left, ...(await audit(''))])).not.toContain(externalId);
    });
  });
};
