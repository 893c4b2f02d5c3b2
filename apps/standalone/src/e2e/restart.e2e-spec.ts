import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

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
});
