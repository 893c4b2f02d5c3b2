import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { anOwner, fresh, PEOPLE } from './end-users.fixture.js';
import { openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

const DEFAULTS = '/api/v1/end-user-defaults';
const BLANK = { templateId: 'blank' };
const OWN = { memMb: 256, diskGb: 1 };

interface AgentBody extends Record<string, unknown> {
  readonly resources: { readonly memMb: number; readonly diskGb: number };
  readonly idleTtlSeconds: number;
}

/** The guarantees for policies over the public API. */
export const describePoliciesApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  const put = (externalId: string, policy: unknown, gateway = 0) =>
    api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy }, gateway });
  const agent = async (id: string) => (await api.get<AgentBody>(`/api/agents/${id}`)).body;
  const end = (): number => stack().urls.length - 1;

  describe('the policy of an end user', () => {
    it('is replaced as a whole, read back on every gateway, and removed', async () => {
      const externalId = fresh('policy');
      for (const unknown of [
        await put(externalId, {}),
        await api.get(`${PEOPLE}/${externalId}/policy`),
        await api.call('DELETE', `${PEOPLE}/${externalId}/policy`),
      ])
        expect([unknown.status, codeOf(unknown)]).toEqual([404, 'end_user_not_found']);
      await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} });
      expect((await api.get(`${PEOPLE}/${externalId}/policy`)).body).toEqual({ externalId, policy: null });
      for (const policy of [{ mem_mb: 512, wakes_per_hour: 3 }, { vcpus: 1.5 }, {}]) {
        const set = await put(externalId, policy);
        expect([set.status, set.body]).toEqual([200, { externalId, policy, agentsUpdated: 0 }]);
        const read = await api.get(`${PEOPLE}/${externalId}/policy`, { gateway: end() });
        expect([read.status, read.body]).toEqual([200, { externalId, policy }]);
        expect((await api.get(`${PEOPLE}/${externalId}`)).body['policy']).toEqual(policy);
      }
      for (const _ of [1, 2]) {
        expect((await api.call('DELETE', `${PEOPLE}/${externalId}/policy`)).status).toBe(204);
        expect((await api.get(`${PEOPLE}/${externalId}/policy`)).body['policy']).toBeNull();
      }
    });

    it('has members within bounds, of the right type, and no others', async () => {
      const externalId = fresh('bounds');
      await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} });
      for (const value of [0, 3_600])
        expect([value, (await put(externalId, { wakes_per_hour: value })).status]).toEqual([value, 200]);
      for (const value of [-1, 3_601, 0.5, '5', null]) {
        const refused = await put(externalId, { wakes_per_hour: value });
        expect([value, refused.status, codeOf(refused)]).toEqual([value, 400, 'invalid_request']);
        expect(refused.body).toMatchObject({ detail: { fields: [{ path: 'policy.wakes_per_hour' }] } });
      }
      for (const policy of [{ wakesPerHour: 3 }, { toString: 1 }, { mem_mb: 512, disc_gb: 1 }]) {
        const refused = await put(externalId, policy);
        expect([policy, refused.status, codeOf(refused)]).toEqual([policy, 400, 'invalid_request']);
      }
      for (const body of [{}, { policy: null }, { policy: [] }, { policy: 'x' }]) {
        const refused = await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body });
        expect([body, refused.status]).toEqual([body, 400]);
      }
    });

    it('sets the sizes and the idle time of its agents, at once as shown and at the next start as they are', async () => {
      const { externalId, agentId } = await anOwner(api, { ...BLANK, resources: OWN, idleTtlSeconds: 900 });
      const other = await anOwner(api, { ...BLANK, resources: OWN });
      const policy = { mem_mb: 512, disk_gb: 2, idle_sleep_seconds: 600 };
      expect((await put(externalId, policy)).body['agentsUpdated']).toBe(1);
      const shown = { resources: { memMb: 512, diskGb: 2 }, idleTtlSeconds: 600 };
      expect(await agent(agentId)).toMatchObject(shown);
      expect(
        (await api.get<{ items: unknown[] }>(`/api/agents?externalUserId=${externalId}`)).body.items,
      ).toMatchObject([shown]);
      expect((await api.post(`/api/agents/${agentId}/restart`)).body).toMatchObject(shown);
      const later = await api.runningAgent({ ...BLANK, externalUserId: externalId, resources: OWN });
      expect(await agent(later.id)).toMatchObject(shown);
      expect(await agent(other.agentId)).toMatchObject({ resources: OWN, idleTtlSeconds: 900 });

      expect((await api.call('DELETE', `${PEOPLE}/${externalId}/policy`)).status).toBe(204);
      // The volumes have 2 GiB by now.
      for (const id of [agentId, later.id])
        expect(await agent(id)).toMatchObject({ resources: { memMb: 256, diskGb: 2 }, idleTtlSeconds: 900 });
    });

    it('gives an agent that sleeps warm other sizes when it wakes, by a new start of its program', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
      const startedAt = async (): Promise<unknown> => {
        expect((await api.post(`/api/agents/${agentId}/sleep`)).body['sleepDepth']).toBe('warm');
        await put(externalId, { mem_mb: 512 });
        return (await api.chat(agentId, 'started')).body.response;
      };
      const before = (await api.chat(agentId, 'started')).body.response;
      const resized = await startedAt();
      expect(resized).not.toBe(before);
      expect(await startedAt()).toBe(resized);
    });

    it('is gone with its end user: another one with the same external id has none', async () => {
      const { externalId } = await anOwner(api, { templateId: 'blank' });
      await put(externalId, { mem_mb: 512, wakes_per_hour: 0, compute_minutes_cap: 0 });
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      expect((await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} })).body['policy']).toBeNull();
      const { id } = await api.runningAgent({ templateId: 'blank', externalUserId: externalId });
      expect((await agent(id)).resources.memMb).not.toBe(512);
    });

    it('appears in the audit when it is set and removed', async () => {
      const account = await openAccount(api, fresh('audited'));
      const { key } = account;
      const externalId = fresh('audited');
      await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {}, key });
      await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy: { mem_mb: 512 } }, key });
      await api.call('DELETE', `${PEOPLE}/${externalId}/policy`, { key });
      await eventually(async () => {
        const { body } = await api.get<{ items: object[] }>('/api/v1/audit', { key });
        expect(body.items.slice(0, 2)).toMatchObject([
          { action: 'policy.delete', actor: { id: account.keyId }, resource: { type: 'end_user' } },
          { action: 'policy.set', details: { policy: { mem_mb: 512 } } },
        ]);
      });
    });
  });

  describe('the compute cap of an end user', () => {
    it('appears in the audit at 50, 80 and 100 percent, once each', async () => {
      const { externalId } = await anOwner(api, BLANK);
      await put(externalId, { compute_minutes_cap: 0 });
      const reached = { actor: { kind: 'system' }, resource: { type: 'end_user', id: externalId } };
      await eventually(
        async () => {
          const { body } = await api.get<{ items: object[] }>(
            `/api/v1/audit?action=cap.threshold&resource=${externalId}`,
          );
          expect(body.items).toHaveLength(3);
          expect(body.items).toMatchObject(
            [100, 80, 50].map((percent) => ({ ...reached, details: { percent } })),
          );
        },
        { timeoutMs: 40_000 },
      );
    });
  });

  describe('the defaults of an account', () => {
    it('are the policy of end users who have none of their own, and never mixed with one', async () => {
      const { key } = await openAccount(api, fresh('defaults'));
      const ofAccount = { key };
      expect((await api.get(DEFAULTS, ofAccount)).body).toEqual({ policy: null });
      const defaults = { mem_mb: 512, idle_sleep_seconds: 600 };
      const set = await api.call('PUT', DEFAULTS, { ...ofAccount, body: { policy: defaults } });
      expect([set.status, set.body]).toEqual([200, { policy: defaults }]);
      expect((await api.get(DEFAULTS, { ...ofAccount, gateway: end() })).body).toEqual({ policy: defaults });
      const refused = await api.call('PUT', DEFAULTS, { ...ofAccount, body: { policy: { memMb: 1 } } });
      expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request']);

      const externalId = fresh('defaulted');
      await api.call('PUT', `${PEOPLE}/${externalId}`, { ...ofAccount, body: {} });
      const owned = await runningAgentOf(api, key, { ...BLANK, externalUserId: externalId, resources: OWN });
      const nobodys = await runningAgentOf(api, key, { ...BLANK, resources: OWN });
      const read = async (id: string) => (await api.get(`/api/agents/${id}`, ofAccount)).body;
      expect(await read(owned)).toMatchObject({ resources: { memMb: 512 }, idleTtlSeconds: 600 });
      expect(await read(nobodys)).toMatchObject({ resources: OWN, idleTtlSeconds: 900 });

      const policy = `${PEOPLE}/${externalId}/policy`;
      await api.call('PUT', policy, { ...ofAccount, body: { policy: { vcpus: 1 } } });
      expect(await read(owned)).toMatchObject({ resources: { ...OWN, vcpus: 1 }, idleTtlSeconds: 900 });
      await api.call('DELETE', policy, ofAccount);
      expect(await read(owned)).toMatchObject({ resources: { memMb: 512 } });
      expect((await api.call('DELETE', DEFAULTS, ofAccount)).status).toBe(204);
      expect(await read(owned)).toMatchObject({ resources: OWN, idleTtlSeconds: 900 });
    });
  });

  describe('the detail of an end user', () => {
    it('shows for how long its agents were awake in this month, and its caps', async () => {
      const { externalId, agentId } = await anOwner(api, BLANK);
      await put(externalId, { compute_minutes_cap: 60, llm_spend_cap_cents_per_month: 5 });
      const spend = async () =>
        (await api.get(`${PEOPLE}/${externalId}`)).body['spend'] as { computeMinutes: number };
      const running = await eventually(async () => {
        const now = await spend();
        expect(now.computeMinutes).toBeGreaterThan(0);
        return now;
      });
      const begin = new Date();
      const month = (add: number) =>
        new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + add)).toISOString();
      expect(running).toMatchObject({
        periodStart: month(0),
        resetsAt: month(1),
        aiCents: 0,
        capCents: 5,
        computeCapMinutes: 60,
      });
      await api.post(`/api/agents/${agentId}/stop`);
      let last = running;
      // The use of a running agent grows between any two looks.
      const stopped = await eventually(
        async () => {
          const before = last;
          last = await spend();
          expect(last).toEqual(before);
          return last;
        },
        { intervalMs: 100 },
      );
      expect(stopped.computeMinutes).toBeGreaterThanOrEqual(running.computeMinutes);
    });
  });
};
