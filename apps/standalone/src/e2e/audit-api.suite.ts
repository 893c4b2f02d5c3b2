import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, type CallOptions } from './api.fixture.js';
import { fresh, mintToken, PEOPLE } from './end-users.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

interface Act {
  readonly actor: { readonly kind: string; readonly id: string | null };
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What the audit shows of end users and of what is done with their tokens. */
export const describeAuditOfEndUsers = (stack: () => Stack): void => {
  const api = new Api(stack);
  const audit = async (query: string): Promise<readonly Act[]> =>
    (await api.get<{ items: readonly Act[] }>(`/api/v1/audit?limit=200&${query}`)).body.items;
  const actionsOf = async (query: string): Promise<readonly string[]> =>
    (await audit(query)).map(({ action }) => action);

  describe('the audit of an end user', () => {
    it('has each act under its external id and each refusal once, and no name of it after the deletion', async () => {
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

      expect((await api.call('DELETE', person)).status).toBe(204);
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
        details: {},
      });
      expect(await audit(`actor=${externalId}`)).toEqual([]);
      expect(JSON.stringify([...left, ...(await audit(''))])).not.toContain(externalId);
    });
  });
};
