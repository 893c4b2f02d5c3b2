import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The tokens with which programs in agents call Berth's API. */
export const describeAgentTokens = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('the token of an agent', () => {
    const labels = { team: 'blue' };
    let agent: { readonly id: string; readonly name: string };
    let other: AgentSchedules;
    beforeAll(async () => {
      const [first, second] = await Promise.all([
        api.runningAgent({ templateId: 'blank', labels }),
        api.runningAgent({ templateId: 'blank' }),
      ]);
      [agent, other] = [first, new AgentSchedules(api, second.id)];
    }, 60_000);

    const self = { method: 'GET', path: '/agent/v1/self' };
    const tokenOf = async (own: AgentSchedules): Promise<string> =>
      (await own.executions.run('printf %s "$BERTH_AGENT_TOKEN"')).body.stdout;

    it('reaches the agent itself, and nothing with another token does', async () => {
      const { id, name } = agent;
      const own = new AgentSchedules(api, id);
      const { status, body } = await own.call(self);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...{ id, name, externalId: null, externalUserId: null, labels, idleTtlSeconds: 900 },
        resources: (await own.agent())['resources'],
      });
      const token = await tokenOf(own);
      for (const wrong of [
        stack().key,
        `${token}x`,
        token.replace(id.slice(4), other.agentId.slice(4)),
        'at_x',
      ])
        expect((await own.call({ ...self, token: wrong })).status).toBe(401);
    });

    it('is good exactly while the start lives that it was made for, through a thaw too', async () => {
      const [own, id] = [other, other.agentId];
      const token = await tokenOf(own);
      await own.sleep();
      const call = () => api.get('/agent/v1/self', { key: token });
      expect((await call()).status).toBe(401);
      await api.post(`/api/agents/${id}/start`);
      // On a loaded machine the agent may have gone cold in the meantime.
      const isThawed = (await tokenOf(own)) === token;
      expect((await call()).status).toBe(isThawed ? 200 : 401);
      await api.post(`/api/agents/${id}/restart`);
      expect((await call()).status).toBe(401);
      expect((await own.call(self)).status).toBe(200);
      await api.post(`/api/agents/${id}/stop`);
      expect((await call()).status).toBe(401);
    });
  });
};
