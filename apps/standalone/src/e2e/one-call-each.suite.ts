import { describe, expect, it } from 'vitest';
import { Api, type ApiResponse } from './api.fixture.js';
import { fresh, PEOPLE } from './end-users.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

/** A call that each service answers. */
export const describeOneCallEach = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('every service', () => {
    it('answers a call', async () => {
      const externalUserId = fresh('caller');
      const person = `${PEOPLE}/${externalUserId}`;
      const { id } = await api.runningAgent({ externalUserId });
      const calls: Readonly<Record<string, () => Promise<ApiResponse>>> = {
        accounts: () => api.get('/api/v1/account'),
        agents: () => api.get(`/api/agents/${id}`),
        audit: () => api.get('/api/v1/audit'),
        billing: () => api.get('/api/v1/usage'),
        delivery: () => api.get(`/api/webhooks/${id}/token`),
        'end-users': () => api.get(person),
        exec: () => api.post(`/api/agents/${id}/exec`, { command: 'true' }),
        files: () => new Files(stack, id).list(),
        gateway: () => api.get('/health'),
        llm: () => api.get('/api/v1/llm-calls'),
        runtime: () => api.chat(id, 'hello'),
        schedules: () => api.get(`/api/agents/${id}/schedules`),
      };
      for (const [service, call] of Object.entries(calls))
        expect([service, (await call()).status]).toEqual([service, 200]);
    });
  });
};
