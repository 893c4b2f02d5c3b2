import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/** The contract allows 10 s. */
const STOPS_WITHIN_MS = 10_000;

const folder = temporaryFolder();
let stack: StandaloneStack;
const api = new Api(() => stack);

beforeAll(async () => {
  stack = await startStandaloneStack(folder.path, { BERTH_WARM_SLEEP_SECONDS: '300' });
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

describe('after SIGTERM and a new start on the same data', () => {
  it('agents are cold asleep, always-on ones run again (by a policy, too), and stopped or sleeping ones are not started', async () => {
    const ids = {
      usual: (await api.runningAgent()).id,
      alwaysOn: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
      alwaysOnAsleep: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
      alwaysOnStopped: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
    };
    const [onByPolicy, offByPolicy] = [await anOwner(api), await anOwner(api, { idleTtlSeconds: 0 })];
    for (const [{ externalId }, seconds] of [
      [onByPolicy, 0],
      [offByPolicy, 900],
    ] as const) {
      const body = { policy: { idle_sleep_seconds: seconds } };
      await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body });
    }
    await api.post(`/api/agents/${ids.alwaysOnAsleep}/sleep`);
    await api.post(`/api/agents/${ids.alwaysOnStopped}/stop`);

    const begun = Date.now();
    await stack.stop();
    expect(Date.now() - begun).toBeLessThan(STOPS_WITHIN_MS);
    stack = await startStandaloneStack(folder.path, { BERTH_WARM_SLEEP_SECONDS: '300' });

    for (const id of [ids.alwaysOn, onByPolicy.agentId]) await api.inState(id, 'running');
    const now = async (id: string): Promise<unknown> => (await api.get(`/api/agents/${id}`)).body;
    expect(await now(ids.usual)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(offByPolicy.agentId)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(ids.alwaysOnAsleep)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(ids.alwaysOnStopped)).toMatchObject({ state: 'stopped' });
    expect((await api.chat(ids.usual, 'still you?')).body.response).toContain('still you?');
  });

  it('a schedule whose times passed in between fires once, and what webhooks left is handed over', async () => {
    const hook = await Webhook.ofProbe(() => stack, api);
    const own = new AgentSchedules(api, hook.agentId);
    const nextRunAt = fromNow(12_000);
    await own.publish({ id: 'tea', nextRunAt, prompt: 'tea' }, { id: 'cake', nextRunAt, prompt: 'cake' });
    const stopped = await Webhook.ofProbe(() => stack, api);
    await api.post(`/api/agents/${stopped.agentId}/stop`);
    const id = await stopped.accepted('kept');

    await stack.stop();
    expect(Date.now()).toBeLessThan(Date.parse(nextRunAt));
    await eventually(() => Date.now() > Date.parse(nextRunAt), { timeoutMs: 20_000 });
    stack = await startStandaloneStack(folder.path, {
      BERTH_WARM_SLEEP_SECONDS: '300',
      BERTH_REQUIRE_WEBHOOK_TOKENS: '1',
    });

    await eventually(
      async () => {
        for (const entry of (await own.list()).body.items)
          expect(entry).toMatchObject({ nextWakeAt: null, lastError: null, lastRunAt: expect.any(String) });
      },
      { timeoutMs: 30_000 },
    );
    await eventually(async () => expect(await hook.received()).toHaveLength(2), { timeoutMs: 30_000 });
    expect((await hook.received()).map(({ message }) => String(message)).toSorted()).toEqual(['cake', 'tea']);
    expect(await stopped.deliveries()).toMatchObject([{ id, status: 'queued', attempts: 0 }]);
    await api.post(`/api/agents/${stopped.agentId}/start`);
    expect(await stopped.ended(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  }, 120_000);

  it('with BERTH_REQUIRE_WEBHOOK_TOKENS=1, an invoke without a token is 401', async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    const hook = new Webhook(() => stack, api, id);
    const { token } = await hook.token();
    const { status, headers, body } = await hook.invoke('anonymous');
    expect([status, body.detail.code, headers.has('deprecation')]).toEqual([401, 'unauthenticated', false]);
    expect((await hook.invoke('known', { token })).status).toBe(202);
  });
});
