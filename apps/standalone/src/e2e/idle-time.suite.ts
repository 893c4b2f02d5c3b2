import { once } from 'node:events';
import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { openConsole } from './console.suite.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { Executions } from './executions.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

const IDLE_SECONDS = 15;
const BLANK = { templateId: 'blank' };

/** Calls a model from inside, in a process that outlives the command that starts it. */
const CALL_IN_BACKGROUND = `setsid node --input-type=module -e '
  const { BERTH_API_URL, BERTH_AGENT_TOKEN } = process.env;
  await fetch(BERTH_API_URL + "/agent/v1/llm/openai/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + BERTH_AGENT_TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ model: "slow", messages: [{ role: "user", content: "hello" }] }),
  });' > /dev/null 2>&1 &`;

/**
 * What keeps an agent awake, each with an agent of its own. They run concurrently, because they mainly wait. `upstream`: of
 * the models of an installation that has some.
 */
export const describeIdleTime = (stack: () => Stack, upstream?: () => FakeUpstream): void => {
  const api = new Api(stack);
  const setIdleTime = async (externalId: string, seconds: number): Promise<void> => {
    const body = { policy: { idle_sleep_seconds: seconds } };
    expect((await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body })).status).toBe(200);
  };

  const wake = async (agentId: string): Promise<void> =>
    expect((await new Executions(api, agentId).run('true')).status).toBe(200);

  describe.concurrent('an agent with an idle time', () => {
    it('falls asleep when it is idle', async () => {
      const { id } = await api.runningAgent({ idleTtlSeconds: IDLE_SECONDS });
      const asleep = await api.inState(id, 'sleeping', 40_000);
      expect(asleep).toMatchObject({ stateReason: 'idle' });
      expect((await api.chat(id, 'still there?')).body.response).toContain('still there?');
    });

    it('falls asleep by the idle time of a policy that is set while it runs, or sleeps warm', async () => {
      const [running, warm] = [await anOwner(api, BLANK), await anOwner(api, BLANK)];
      await api.post(`/api/agents/${warm.agentId}/sleep`);
      for (const { externalId } of [running, warm]) await setIdleTime(externalId, IDLE_SECONDS);
      await wake(warm.agentId);
      for (const { agentId } of [running, warm])
        expect(await api.inState(agentId, 'sleeping', 40_000)).toMatchObject({ stateReason: 'idle' });
    }, 100_000);

    it('stays awake beyond it under a policy that says always on, and sleeps by it again without', async () => {
      const { externalId, agentId } = await anOwner(api, { ...BLANK, idleTtlSeconds: IDLE_SECONDS });
      await setIdleTime(externalId, 0);
      // Wakes it, should it have fallen asleep before.
      await wake(agentId);
      const until = Date.now() + 20_000;
      await eventually(() => Date.now() > until, { timeoutMs: 25_000, intervalMs: 500 });
      expect((await api.get(`/api/agents/${agentId}`)).body).toMatchObject({
        ...{ state: 'running', idleTtlSeconds: 0, sleepAt: null },
      });
      await api.call('DELETE', `${PEOPLE}/${externalId}/policy`);
      await api.inState(agentId, 'sleeping', 40_000);
    }, 100_000);

    it('stays awake beyond it while a detached execution runs, and falls asleep afterwards', async () => {
      const { id } = await api.runningAgent({ ...BLANK, idleTtlSeconds: IDLE_SECONDS });
      const own = new Executions(api, id);
      const execution = await own.begin('sleep 18; echo through');
      expect((await own.ended(execution, 30_000)).stdout).toBe('through\n');
      expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
      await api.inState(id, 'sleeping', 30_000);
    });

    it.runIf(upstream)('stays awake while a call of a model runs, which is its last activity', async () => {
      const response = Promise.withResolvers<undefined>();
      upstream?.().on('slow', { beforeHeaders: response.promise });
      const { id } = await api.runningAgent({ ...BLANK, idleTtlSeconds: IDLE_SECONDS });
      await new Executions(api, id).run(CALL_IN_BACKGROUND);
      await eventually(() => expect(upstream?.().requestsFor('slow')).toHaveLength(1), { intervalMs: 100 });
      const until = Date.now() + 20_000;
      await eventually(() => Date.now() > until, { timeoutMs: 25_000, intervalMs: 500 });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ state: 'running', sleepAt: null });
      response.resolve(undefined);
      const asleep = await api.inState(id, 'sleeping', 40_000);
      expect(Date.parse(String(asleep['lastActiveAt']))).toBeGreaterThan(until);
    });

    it('stays awake exactly while a console is open, even without input', async () => {
      const { id } = await api.runningAgent({ ...BLANK, idleTtlSeconds: IDLE_SECONDS });
      const { socket } = openConsole(stack(), id);
      await once(socket, 'open');
      const until = Date.now() + 20_000;
      await eventually(() => Date.now() > until, { timeoutMs: 25_000, intervalMs: 500 });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ state: 'running', sleepAt: null });
      socket.close();
      await api.inState(id, 'sleeping', 30_000);
    });

    it('falls asleep by it although its program is asked for its schedules, and a webhook counts as its use', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe', idleTtlSeconds: IDLE_SECONDS });
      const own = new AgentSchedules(api, id);
      await own.executions.run(`printf %s '[{"id":"daily","cron":"@daily"}]' > schedules`);
      await own.sleep();
      expect((await api.post(`/api/agents/${id}/start`)).status).toBe(200);
      // The first poll follows a second after the start.
      const beforePoll = Date.now() + 500;
      await eventually(async () => expect(await own.only()).toMatchObject({ source: 'polled' }), {
        timeoutMs: 30_000,
      });
      const asleep = await api.inState(id, 'sleeping', 40_000);
      expect(asleep).toMatchObject({ stateReason: 'idle' });
      expect(Date.parse(String(asleep['lastActiveAt']))).toBeLessThan(beforePoll);
      const hook = new Webhook(stack, api, id);
      const invokedAt = Date.now();
      await hook.ended(await hook.accepted('wake up'));
      const { lastActiveAt, lastActivityKind } = await own.agent();
      expect([Date.parse(String(lastActiveAt)) >= invokedAt, lastActivityKind]).toEqual([true, 'webhook']);
    }, 100_000);
  });
};
