import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { anOwner, fresh, PEOPLE } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

const BLANK = { templateId: 'blank' };

/** The guarantees for the caps of policies over the public API. `restart` ends the services in between, if the stack can. */
export const describeCaps = (stack: () => Stack, restart?: () => Promise<void>): void => {
  const api = new Api(stack);
  const setPolicy = async (externalId: string, policy: object): Promise<void> => {
    const { status } = await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy } });
    expect(status).toBe(200);
  };
  const sleep = (id: string) => api.post(`/api/agents/${id}/sleep`);
  const stateOf = async (id: string) => (await api.get(`/api/agents/${id}`)).body['state'];

  /** Repeats a call while it is 503, as a caller does whom an overload or a restart meets. */
  const untilServed = <Body>(call: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> =>
    eventually(
      async () => {
        const response = await call();
        if (response.status === 503) throw new Error('The service is not available.');
        return response;
      },
      { timeoutMs: 30_000 },
    );

  describe('a limit of wakes', () => {
    it('is never exceeded by 20 concurrent calls to sleeping agents, and those awake answer', async () => {
      const { externalId, agentId } = await anOwner(api);
      const others = await Promise.all([1, 2, 3].map(() => api.runningAgent({ externalUserId: externalId })));
      const agents = [agentId, ...others.map(({ id }) => id)];
      await Promise.all(agents.map(sleep));
      await setPolicy(externalId, { wakes_per_hour: 2 });
      const gateways = stack().urls.length;
      const responses = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          // Each agent is called through every gateway.
          const id = agents[(n >> 1) % agents.length] ?? '';
          return { id, ...(await untilServed(() => api.chat(id, 'wake up', { gateway: n % gateways }))) };
        }),
      );
      const answered = new Set(responses.filter(({ status }) => status === 200).map(({ id }) => id));
      const refused = responses.filter(({ status }) => status === 429);
      expect(answered.size).toBe(2);
      const unexpected = responses.filter(({ status }) => status !== 200 && status !== 429);
      expect(unexpected.map(({ status, body }) => [status, body.detail])).toEqual([]);
      expect(new Set(refused.map(({ id }) => id)).size).toBe(2);
      for (const { body, headers } of refused) {
        expect(body.detail.code).toBe('wake_limit_reached');
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500);
      }
      const states = await Promise.all(agents.map(stateOf));
      expect(states.filter((state) => state === 'running')).toHaveLength(2);

      await restart?.();
      const [asleep = ''] = agents.filter((id) => !answered.has(id));
      await untilServed(() => api.chat(asleep, 'again'));
      for (const refusedAgain of [
        await api.chat(asleep, 'again'),
        await api.post(`/api/agents/${asleep}/start`),
        await api.post(`/api/agents/${asleep}/restart`),
        await api.post(`/api/agents/${asleep}/exec`, { command: 'true' }),
        await api.get(`/api/agents/${asleep}/files/list`),
      ])
        expect([refusedAgain.status, codeOf(refusedAgain)]).toEqual([429, 'wake_limit_reached']);

      // None of these is a wake: a call to an awake agent, its restart, a new agent, and what puts agents to rest.
      const [awake = ''] = answered;
      expect((await api.chat(awake, 'still here')).status).toBe(200);
      expect((await api.post(`/api/agents/${awake}/restart`)).status).toBe(200);
      await api.runningAgent({ externalUserId: externalId, templateId: 'blank' });
      expect((await sleep(awake)).status).toBe(200);
      expect((await api.chat(awake, 'once more')).status).toBe(429);
      await setPolicy(externalId, { wakes_per_hour: 3 });
      expect((await api.chat(awake, 'once more')).status).toBe(200);
      expect((await api.call('DELETE', `/api/agents/${asleep}`)).status).toBe(204);
    });

    it('of 0 refuses every wake for an hour, and affects no other end user', async () => {
      const [limited, other] = [await anOwner(api, BLANK), await anOwner(api, BLANK)];
      const wake = (id: string) => api.post(`/api/agents/${id}/exec`, { command: 'true' });
      await Promise.all([sleep(limited.agentId), sleep(other.agentId)]);
      await setPolicy(limited.externalId, { wakes_per_hour: 0 });
      const refused = await wake(limited.agentId);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
      expect((await wake(other.agentId)).status).toBe(200);
      expect((await api.call('DELETE', `${PEOPLE}/${limited.externalId}/policy`)).status).toBe(204);
      expect((await wake(limited.agentId)).status).toBe(200);
    });
  });

  describe('a cap on compute minutes', () => {
    it('puts awake agents to sleep, cold, and refuses every start until it is lifted', async () => {
      const { externalId, agentId } = await anOwner(api, BLANK);
      await setPolicy(externalId, { compute_minutes_cap: 0 });
      const asleep = await api.inState(agentId, 'sleeping', 60_000);
      expect(asleep).toMatchObject({ sleepDepth: 'cold', stateReason: 'compute_cap_reached' });
      const name = fresh('refused');
      for (const refused of [
        await api.chat(agentId, 'hello'),
        await api.post(`/api/agents/${agentId}/start`),
        await api.post(`/api/agents/${agentId}/restart`),
        await api.post('/api/agents', { name, templateId: 'echo', externalUserId: externalId }),
      ])
        expect([refused.status, codeOf(refused)]).toEqual([402, 'compute_cap_reached']);
      expect((await api.get<{ items: unknown[] }>(`/api/agents?name=${name}`)).body.items).toEqual([]);
      for (const allowed of [
        await sleep(agentId),
        await api.post(`/api/agents/${agentId}/stop`),
        await api.get(`/api/agents/${agentId}/logs`),
        await api.get(`/api/agents/${agentId}`),
      ])
        expect(allowed.status).toBe(200);
      await setPolicy(externalId, { compute_minutes_cap: 60 });
      expect((await api.post(`/api/agents/${agentId}/start`)).body).toMatchObject({ state: 'running' });
    });

    it('counts the time of all agents together, and puts them to sleep within 60 s once they reach it', async () => {
      const { externalId, agentId } = await anOwner(api, { ...BLANK, idleTtlSeconds: 0 });
      const more = { ...BLANK, idleTtlSeconds: 0, externalUserId: externalId };
      const others = await Promise.all([1, 2, 3].map(() => api.runningAgent(more)));
      await setPolicy(externalId, { compute_minutes_cap: 1 });
      const minutes = async (): Promise<number> => {
        const { body } = await api.get<{ spend: { computeMinutes: number } }>(`${PEOPLE}/${externalId}`);
        return body.spend.computeMinutes;
      };
      // Four agents take 15 seconds for a minute.
      await eventually(async () => expect(await minutes()).toBeGreaterThanOrEqual(1), {
        timeoutMs: 60_000,
        intervalMs: 250,
      });
      const reachedAt = Date.now();
      for (const id of [agentId, ...others.map((other) => other.id)])
        expect(await api.inState(id, 'sleeping', 60_000 - (Date.now() - reachedAt))).toMatchObject({
          sleepDepth: 'cold',
          stateReason: 'compute_cap_reached',
        });
      const used = await minutes();
      expect(await minutes()).toBe(used);
    }, 150_000);
  });
};
