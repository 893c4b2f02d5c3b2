import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Variables of an agent over HTTP: the same guarantees for every layout of the services. */
export const describeEnvironmentApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('environment variables', () => {
    let id: string;
    beforeAll(async () => {
      ({ id } = await api.runningAgent({ templateId: 'probe', env: { GREETING: 'moin' } }));
    }, 60_000);

    it('reach the program after a reload, and a secret value is never returned', async () => {
      expect((await api.chat(id, 'env GREETING')).body.response).toBe('moin');
      const put = await api.call('PUT', `/api/agents/${id}/env/API_TOKEN`, {
        body: { value: 's3cr3t-value', isSecret: true },
      });
      expect([put.status, put.body]).toEqual([
        200,
        expect.objectContaining({ key: 'API_TOKEN', value: '********', isSecret: true }),
      ]);
      const listed = await api.get(`/api/agents/${id}/env`);
      expect(JSON.stringify(listed.body)).not.toContain('s3cr3t-value');
      expect((await api.post(`/api/agents/${id}/env/reload`)).status).toBe(200);
      await eventually(
        async () => expect((await api.chat(id, 'env API_TOKEN')).body.response).toBe('s3cr3t-value'),
        { timeoutMs: 20_000 },
      );
      expect((await api.call('DELETE', `/api/agents/${id}/env/API_TOKEN`)).status).toBe(204);
      expect((await api.call('DELETE', `/api/agents/${id}/env/API_TOKEN`)).status).toBe(404);
    });

    it('that are set during a deploy are available after the reload', async () => {
      const created = await api.post<{ id: string }>('/api/agents', {
        name: `reloaded early ${crypto.randomUUID()}`,
        templateId: 'probe',
      });
      const { id: early } = created.body;
      await api.call('PUT', `/api/agents/${early}/env/LATE`, { body: { value: 'in time' } });
      const reloaded = await api.post(`/api/agents/${early}/env/reload`);
      expect([reloaded.status, reloaded.body['state']]).toEqual([200, 'running']);
      expect((await api.chat(early, 'env LATE')).body.response).toBe('in time');
    });

    it('that are reloaded while the agent sleeps warm are available when it wakes', async () => {
      expect((await api.post(`/api/agents/${id}/sleep`)).body).toMatchObject({ sleepDepth: 'warm' });
      await api.call('PUT', `/api/agents/${id}/env/GREETING`, { body: { value: 'new' } });
      const reloaded = await api.post(`/api/agents/${id}/env/reload`);
      expect(reloaded.body).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
      expect((await api.chat(id, 'env GREETING')).body.response).toBe('new');
    });

    it('stay secret when their value is replaced, until they are declared not secret', async () => {
      const put = async (body: Record<string, unknown>): Promise<Record<string, unknown>> =>
        (await api.call('PUT', `/api/agents/${id}/env/TOKEN`, { body })).body;
      expect(await put({ value: 'one', secret: true })).toMatchObject({ value: '********', isSecret: true });
      expect(await put({ value: 'two' })).toMatchObject({ value: '********', isSecret: true });
      expect(await put({ value: 'three', isSecret: false })).toMatchObject({
        value: 'three',
        isSecret: false,
      });
      expect(await put({ value: 'four' })).toMatchObject({ value: 'four', isSecret: false });
    });
  });
};
