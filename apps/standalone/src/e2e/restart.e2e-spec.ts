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

let ids: Readonly<Record<'usual' | 'alwaysOn' | 'alwaysOnAsleep' | 'alwaysOnStopped', string>>;
let byPolicy: Readonly<Record<'on' | 'off', string>>;
let hook: Webhook;
let own: AgentSchedules;
let stopped: Webhook;
let kept: string;
let stoppedWithinMs: number;

const withPolicy = async (before: Record<string, unknown>, seconds: number): Promise<string> => {
  const { externalId, agentId } = await anOwner(api, before);
  await api.call('PUT', `${PEOPLE}/${externalId}/policy`, {
    body: { policy: { idle_sleep_seconds: seconds } },
  });
  return agentId;
};

beforeAll(async () => {
  stack = await startStandaloneStack(folder.path, { BERTH_WARM_SLEEP_SECONDS: '300' });
  ids = {
    usual: (await api.runningAgent()).id,
    alwaysOn: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
    alwaysOnAsleep: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
    alwaysOnStopped: (await api.runningAgent({ idleTtlSeconds: 0 })).id,
  };
  byPolicy = { on: await withPolicy({}, 0), off: await withPolicy({ idleTtlSeconds: 0 }, 900) };
  await api.post(`/api/agents/${ids.alwaysOnAsleep}/sleep`);
  await api.post(`/api/agents/${ids.alwaysOnStopped}/stop`);

  hook = await Webhook.ofProbe(() => stack, api);
  stopped = await Webhook.ofProbe(() => stack, api);
  await api.post(`/api/agents/${stopped.agentId}/stop`);
  kept = await stopped.accepted('kept');
  own = new AgentSchedules(api, hook.agentId);
  const nextRunAt = fromNow(12_000);
  await own.publish({ id: 'tea', nextRunAt, prompt: 'tea' }, { id: 'cake', nextRunAt, prompt: 'cake' });

  const begun = Date.now();
  await stack.stop();
  stoppedWithinMs = Date.now() - begun;
  expect(Date.now()).toBeLessThan(Date.parse(nextRunAt));
  await eventually(() => Date.now() > Date.parse(nextRunAt), { timeoutMs: 20_000 });
  stack = await startStandaloneStack(folder.path, {
    BERTH_WARM_SLEEP_SECONDS: '300',
    BERTH_REQUIRE_WEBHOOK_TOKENS: '1',
  });
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

describe('after SIGTERM and a new start on the same data', () => {
  it('agents are cold asleep, always-on ones run again (by a policy, too), and stopped or sleeping ones are not started', async () => {
    expect(stoppedWithinMs).toBeLessThan(STOPS_WITHIN_MS);
    for (const id of [ids.alwaysOn, byPolicy.on]) await api.inState(id, 'running');
    const now = async (id: string): Promise<unknown> => (await api.get(`/api/agents/${id}`)).body;
    expect(await now(ids.usual)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(byPolicy.off)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(ids.alwaysOnAsleep)).toMatchObject({ state: 'sleeping', sleepDepth: 'cold' });
    expect(await now(ids.alwaysOnStopped)).toMatchObject({ state: 'stopped' });
    expect((await api.chat(ids.usual, 'still you?')).body.response).toContain('still you?');
  });

  it('a schedule whose times passed in between fires once, and what webhooks left is handed over', async () => {
    await eventually(
      async () => {
        for (const entry of (await own.list()).body.items)
          expect(entry).toMatchObject({ nextWakeAt: null, lastError: null, lastRunAt: expect.any(String) });
      },
      { timeoutMs: 30_000 },
    );
    await eventually(async () => expect(await hook.received()).toHaveLength(2), { timeoutMs: 30_000 });
    expect((await hook.received()).map(({ message }) => String(message)).toSorted()).toEqual(['cake', 'tea']);
    expect(await stopped.deliveries()).toMatchObject([{ id: kept, status: 'queued', attempts: 0 }]);
    await api.post(`/api/agents/${stopped.agentId}/start`);
    expect(await stopped.ended(kept)).toMatchObject({ status: 'delivered', attempts: 1 });
  }, 120_000);

  it('with BERTH_REQUIRE_WEBHOOK_TOKENS=1, an invoke without a token is 401', async () => {
    const { token } = await stopped.token();
    const { status, headers, body } = await stopped.invoke('anonymous');
    expect([status, body.detail.code, headers.has('deprecation')]).toEqual([401, 'unauthenticated', false]);
    expect((await stopped.invoke('known', { token })).status).toBe(202);
  });
});
