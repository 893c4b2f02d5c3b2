import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Berth's API as programs in agents reach it, whatever their network. */
export const describeAgentApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('the API inside an agent', () => {
    let id: string;
    let inside: AgentSchedules;
    beforeAll(async () => {
      ({ id } = await api.runningAgent({ templateId: 'blank' }));
      inside = new AgentSchedules(api, id);
    }, 60_000);

    it('can be reached at BERTH_API_URL, also after a thaw and after another start', async () => {
      const self = { method: 'GET', path: '/agent/v1/self' };
      expect(await inside.call(self)).toMatchObject({ status: 200, body: { id } });
      await api.post(`/api/agents/${id}/sleep`);
      expect(await inside.call(self)).toMatchObject({ status: 200, body: { id } });
      await api.post(`/api/agents/${id}/stop`);
      await api.post(`/api/agents/${id}/start`);
      expect(await inside.call(self)).toMatchObject({ status: 200, body: { id } });
    });

    it('has no route for anything but agents', async () => {
      for (const path of ['/api/agents', '/agent/v1/../../api/agents', '/docs'])
        expect(await inside.call({ method: 'GET', path })).toMatchObject({
          status: 404,
          body: { detail: { code: 'not_found' } },
        });
    });
  });
};
