import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/** Long enough to publish the entry and to forbid its agent's wakes on a loaded machine. */
const DUE_MS = 15_000;
const FIRED = { timeoutMs: 60_000, intervalMs: 250 };
/** After a cap is lifted. */
const HANDED_OVER_WITHIN_MS = 60_000;

/** Messages to agents that must not be woken. The tests run concurrently, because they mainly wait. */
export const describeHeldMessages = (stack: () => Stack): void => {
  const api = new Api(stack);
  const lastErrorOf = async (own: AgentSchedules): Promise<string | undefined> => {
    const { nextWakeAt, lastRunAt, lastError } = await own.only();
    expect(lastRunAt).toBeNull();
    return nextWakeAt === null ? lastError?.code : undefined;
  };
  const publishTea = async (own: AgentSchedules): Promise<void> => {
    const { status } = await own.publish({ id: 'tea', nextRunAt: fromNow(DUE_MS), prompt: 'tea' });
    expect(status).toBe(200);
  };

  describe.concurrent('an agent whose wakes a cap refuses', () => {
    it.each([
      ['compute_cap_reached', { compute_minutes_cap: 0 }],
      ['wake_limit_reached', { wakes_per_hour: 0 }],
    ])(
      'misses what its schedule fires (%s), and gets its webhooks within 60 s of the lifting',
      async (code, policy) => {
        const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
        const path = `${PEOPLE}/${externalId}/policy`;
        const own = new AgentSchedules(api, agentId);
        const hook = new Webhook(stack, api, agentId);
        await publishTea(own);
        await own.sleep();
        expect((await api.call('PUT', path, { body: { policy } })).status).toBe(200);
        const ids = [await hook.accepted('first'), await hook.accepted('second')];
        await eventually(async () => expect(await lastErrorOf(own)).toBe(code), FIRED);
        expect(await hook.deliveries()).toMatchObject(ids.map(() => ({ status: 'queued', attempts: 0 })));
        expect((await api.call('DELETE', path)).status).toBe(204);
        const liftedAt = Date.now();
        for (const id of ids)
          expect(await hook.ended(id)).toMatchObject({ status: 'delivered', attempts: 1 });
        expect(Date.now() - liftedAt).toBeLessThan(HANDED_OVER_WITHIN_MS);
        expect((await hook.received()).map(({ message }) => message)).toEqual(['first', 'second']);
        expect(await lastErrorOf(own)).toBe(code);
      },
      180_000,
    );
  });

  describe.concurrent('a schedule that fires during a suspension', () => {
    it('of its end user is refused, says so, and is not made up', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
      const own = new AgentSchedules(api, agentId);
      await publishTea(own);
      expect((await api.post(`${PEOPLE}/${externalId}/suspend`)).status).toBe(200);
      await eventually(async () => expect(await lastErrorOf(own)).toBe('end_user_suspended'), FIRED);
      expect((await api.post(`${PEOPLE}/${externalId}/resume`)).status).toBe(200);
      expect((await api.chat(agentId, 'hello')).status).toBe(200);
      expect((await own.executions.run('cat received')).body.exitCode).toBe(1);
    }, 120_000);

    it('of its account is refused, says so, and is not made up', async () => {
      const { id, key } = await openAccount(api, 'scheduled');
      const theirs = new Api(() => ({ ...stack(), key }));
      const own = new AgentSchedules(theirs, await runningAgentOf(api, key, { templateId: 'probe' }));
      const setSuspended = (suspended: boolean) =>
        api.call('PUT', `${ACCOUNTS}/${id}`, { body: { suspended } });
      await publishTea(own);
      const dueAt = Date.now() + DUE_MS;
      expect((await setSuspended(true)).status).toBe(200);
      expect((await own.list()).status).toBe(403);
      // The list of a suspended account cannot be read; a firing is at most 5 s late.
      await eventually(() => Date.now() > dueAt + 5_000, FIRED);
      expect((await setSuspended(false)).status).toBe(200);
      expect(await lastErrorOf(own)).toBe('account_suspended');
      expect((await own.executions.run('cat received')).body.exitCode).toBe(1);
    }, 120_000);
  });
};
