import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { fresh, PEOPLE, type EndUser, type EndUserPage } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The agents of end users over the public API. */
export const describeEndUserAgents = (stack: () => Stack): void => {
  const api = new Api(stack);
  const put = (externalId: string, body: unknown = {}) =>
    api.call<EndUser>('PUT', `${PEOPLE}/${externalId}`, { body });

  describe('an end user with agents', () => {
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

    it('gets its agent once from twenty concurrent requests, and another one after its deletion', async () => {
      const externalId = fresh('sole');
      const path = `${PEOPLE}/${externalId}/agents`;
      const gateways = stack().urls.length;
      const create = (n: number) =>
        api.post<{ id: string }>(
          path,
          { templateId: 'blank', labels: { n: String(n) } },
          { gateway: n % gateways },
        );
      const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => create(n)));
      const statuses = responses.map(({ status }) => status);
      expect([201, 200].map((status) => statuses.filter((one) => one === status).length)).toEqual([1, 19]);
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
  });
};
