import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/** When a published entry is due: late enough that the test can forbid wakes before, even on a loaded machine. */
const DUE_IN_MS = 15_000;
const UNTIL_FIRED = { timeoutMs: 60_000, intervalMs: 250 };
/** The longest time from the removal of a cap to the delivery of the webhooks that waited for it. */
const DELIVERED_WITHIN_MS = 60_000;

/** Messages to agents that must not be woken. The tests run concurrently, because they mainly wait. */
export const describeHeldMessages = (stack: () => Stack): void => {
  const api = new Api(stack);
  /** Why the agent's only entry failed; undefined until it has fired. */
  const lastErrorOf = async (own: AgentSchedules): Promise<string | undefined> => {
    const { nextWakeAt, lastRunAt, lastError } = await own.only();
    expect(lastRunAt).toBeNull();
    return nextWakeAt === null ? lastError?.code : undefined;
  };
  const publishTea = async (own: AgentSchedules): Promise<void> => {
    const { status } = await own.publish({ id: 'tea', nextRunAt: fromNow(DUE_IN_MS), prompt: 'tea' });
    expect(status).toBe(200);
  };
  /** The template `probe` creates the file `received` when it gets a prompt. */
  const expectNoPrompt = async (own: AgentSchedules): Promise<void> =>
    expect((await own.executions.run('cat received')).body.exitCode).toBe(1);

  describe.concurrent('an agent that a cap keeps asleep', () => {
    it.each([
      ['compute_cap_reached', { compute_minutes_cap: 0 }],
      ['wake_limit_reached', { wakes_per_hour: 0 }],
    ])(
      'does not get its scheduled prompt (%s), and gets its webhooks within 60 s after the cap is removed',
      async (code, policy) => {
        const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
        const path = `${PEOPLE}/${externalId}/policy`;
        const own = new AgentSchedules(api, agentId);
        const hook = new Webhook(stack, api, agentId);
        await publishTea(own);
        await own.sleep();
        expect((await api.call('PUT', path, { body: { policy } })).status).toBe(200);
        const ids = [await hook.accepted('first'), await hook.accepted('second')];
        await eventually(async () => expect(await lastErrorOf(own)).toBe(code), UNTIL_FIRED);
        expect(await hook.deliveries()).toMatchObject(ids.map(() => ({ status: 'queued', attempts: 0 })));
        expect((await api.call('DELETE', path)).status).toBe(204);
        const removedAt = Date.now();
        for (const id of ids)
          expect(await hook.ended(id)).toMatchObject({ status: 'delivered', attempts: 1 });
        expect(Date.now() - removedAt).toBeLessThan(DELIVERED_WITHIN_MS);
        expect((await hook.received()).map(({ message }) => message)).toEqual(['first', 'second']);
        expect(await lastErrorOf(own)).toBe(code);
      },
      180_000,
    );
  });

  describe.concurrent('a schedule that fires during a suspension', () => {
    it('of its end user fails with end_user_suspended, and does not fire again when the suspension ends', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
      const own = new AgentSchedules(api, agentId);
      await publishTea(own);
      expect((await api.post(`${PEOPLE}/${externalId}/suspend`)).status).toBe(200);
      await eventually(async () => expect(await lastErrorOf(own)).toBe('end_user_suspended'), UNTIL_FIRED);
      expect((await api.post(`${PEOPLE}/${externalId}/resume`)).status).toBe(200);
      expect((await api.chat(agentId, 'hello')).status).toBe(200);
      await expectNoPrompt(own);
    }, 120_000);

    it('of its account fails with account_suspended, and does not fire again when the suspension ends', async () => {
      const { id, key } = await openAccount(api, 'scheduled');
      const apiOfAccount = new Api(() => ({ ...stack(), key }));
      const own = new AgentSchedules(apiOfAccount, await runningAgentOf(api, key, { templateId: 'probe' }));
      const setSuspended = (suspended: boolean) =>
        api.call('PUT', `${ACCOUNTS}/${id}`, { body: { suspended } });
      await publishTea(own);
      const dueAt = Date.now() + DUE_IN_MS;
      expect((await setSuspended(true)).status).toBe(200);
      expect((await own.list()).status).toBe(403);
      // The suspended account cannot read whether its entry has fired; a firing is at most 5 s late.
      await eventually(() => Date.now() > dueAt + 5_000, UNTIL_FIRED);
      expect((await setSuspended(false)).status).toBe(200);
      expect(await lastErrorOf(own)).toBe('account_suspended');
      await expectNoPrompt(own);
    }, 120_000);
  });
};
