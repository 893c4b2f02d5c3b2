import { agentsRequests, type AgentRef } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aCreation, ACCOUNT, ServedAgents } from '../fixtures/served-agents.fixture.js';

/** A request without a sign of life is sent again after 1.15 s and then every 0.5 s. */
const ONE_COPY_LOST_MS = 700;
const THREE_COPIES_HELD_MS = 2_300;

let test: ServedAgents;

beforeAll(async () => {
  test = await ServedAgents.start();
  await test.hosts.add('host1');
});
afterEach(() => {
  test.hosts.reset();
  test.brokerProxy.restore();
});
afterAll(() => test.stop());

const FAULTS = [
  [
    'whose first copy is lost',
    () => {
      test.brokerProxy.swallowAnswers();
      setTimeout(() => test.brokerProxy.restore(), ONE_COPY_LOST_MS);
    },
  ],
  [
    'whose copies are held and arrive at once',
    () => {
      test.brokerProxy.holdAnswers();
      setTimeout(() => test.brokerProxy.thaw(), THREE_COPIES_HELD_MS);
    },
  ],
] as const;

const aRunningAgent = async (): Promise<AgentRef> => {
  const { id: agentId } = await test.create(aCreation());
  await eventually(async () => expect(await test.get(agentId)).toMatchObject({ state: 'running' }));
  return { commandId: newId('cmd'), accountId: ACCOUNT, actor: { kind: 'key', id: 'key_1' }, agentId };
};

describe.each(FAULTS)('a command %s', (_, fail) => {
  it('creates one agent', async () => {
    const creation = aCreation();
    fail();
    const { id } = await test.requester.request(agentsRequests.create, creation);
    await eventually(async () => expect(await test.get(id)).toMatchObject({ state: 'running' }));
    const created = (await test.log('agent')).filter(({ data }) => data['name'] === creation.name);
    expect(created).toHaveLength(1);
    expect((await test.history(id)).filter((type) => type === 'AgentStarting')).toHaveLength(1);
  });

  it('stops, starts and restarts its agent once each', async () => {
    const agent = await aRunningAgent();
    for (const [name, state, event] of [
      ['stop', 'stopped', 'AgentStopping'],
      ['start', 'running', 'AgentStarting'],
      ['restart', 'running', 'AgentStarting'],
    ] as const) {
      const before = (await test.history(agent.agentId)).filter((type) => type === event).length;
      fail();
      const request = { ...agent, commandId: newId('cmd') };
      expect(await test.requester.request(agentsRequests[name], request)).toMatchObject({ agent: { state } });
      // Sent after every copy, and it takes longer than a copy needs to be begun or refused.
      const later = { ...agent, commandId: newId('cmd'), key: 'A', value: name, isSecret: null };
      await test.requester.request(agentsRequests.setEnv, later);
      expect((await test.history(agent.agentId)).filter((type) => type === event)).toHaveLength(before + 1);
    }
  });
});
