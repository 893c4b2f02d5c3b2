import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The tokens with which programs in agents call Berth's API. */
export const describeAgentTokens = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe.concurrent('the token of an agent', () => {
    const self = { method: 'GET', path: '/agent/v1/self' };
    const tokenOf = async (own: AgentSchedules): Promise<string> =>
      (await own.executions.run('printf %s "$BERTH_AGENT_TOKEN"')).body.stdout;

    it('reaches the agent itself, and nothing with another token does', async () => {
      const labels = { team: 'blue' };
      const { id, name } = await api.runningAgent({ templateId: 'blank', labels });
      const own = new AgentSchedules(api, id);
      const { status, body } = await own.call(self);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...{ id, name, externalId: null, externalUserId: null, labels, idleTtlSeconds: 900 },
        resources: (await own.agent())['resources'],
      });
      const token = await tokenOf(own);
      const other = await api.runningAgent({ templateId: 'blank' });
      for (const wrong of [stack().key, `${token}x`, token.replace(id.slice(4), other.id.slice(4)), 'at_x'])
        expect((await own.call({ ...self, token: wrong })).status).toBe(401);
    });

    it('is good exactly while the start lives that it was made for, through a thaw too', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const own = new AgentSchedules(api, id);
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
