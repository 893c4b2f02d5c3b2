import { agentsRequests, type AgentRef } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { WireNames } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aCreation, ACCOUNT, createsNamed, ServedAgents } from '../fixtures/served-agents.fixture.js';

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

const names = new WireNames();

const FAULTS = [
  ['whose first copy is lost', (subject: string) => test.brokerProxy.loseNext(subject)],
  ['whose copies are held and arrive at once', (subject: string) => test.brokerProxy.holdUntil(subject, 3)],
] as const;

const aRunningAgent = async (): Promise<AgentRef> => {
  const { id: agentId } = await test.create(aCreation());
  await eventually(async () => expect(await test.get(agentId)).toMatchObject({ state: 'running' }));
  return { commandId: newId('cmd'), accountId: ACCOUNT, actor: { kind: 'key', id: 'key_1' }, agentId };
};

describe.each(FAULTS)('a command %s', (_, strike) => {
  const fail = ({ subject }: { readonly subject: string }): void => strike(names.subject(subject));

  it('creates one agent', async () => {
    const creation = aCreation();
    fail(agentsRequests.create);
    const { id } = await test.requester.request(agentsRequests.create, creation);
    expect(test.brokerProxy.isArmed).toBe(false);
    await eventually(async () => expect(await test.get(id)).toMatchObject({ state: 'running' }));
    const created = (await test.log('agent')).filter(createsNamed(creation.name));
    expect(created).toHaveLength(1);
    expect((await test.history(id)).filter((type) => type === 'AgentStarting.v2')).toHaveLength(1);
  });

  it('sets and deletes a variable once', async () => {
    const agent = await aRunningAgent();
    const variable = { ...agent, commandId: newId('cmd'), key: 'A', value: 'one', isSecret: null };
    fail(agentsRequests.setEnv);
    expect(await test.requester.request(agentsRequests.setEnv, variable)).toMatchObject({ value: 'one' });
    expect(test.brokerProxy.isArmed).toBe(false);
    fail(agentsRequests.deleteEnv);
    await test.requester.request(agentsRequests.deleteEnv, { ...agent, commandId: newId('cmd'), key: 'A' });
    expect(test.brokerProxy.isArmed).toBe(false);
    const changes = await test.log('agentEnv');
    expect(changes.filter(({ data }) => data['agentId'] === agent.agentId).map(({ type }) => type)).toEqual([
      'EnvVarSet.v2',
      'EnvVarRemoved.v2',
    ]);
  });

  it('puts its agent to sleep once', async () => {
    const agent = await aRunningAgent();
    fail(agentsRequests.sleep);
    expect(await test.requester.request(agentsRequests.sleep, agent)).toMatchObject({
      agent: { state: 'sleeping', sleepDepth: 'warm' },
      settled: true,
    });
    expect(test.brokerProxy.isArmed).toBe(false);
    const later = { ...agent, commandId: newId('cmd'), key: 'A', value: 'later', isSecret: null };
    await test.requester.request(agentsRequests.setEnv, later);
    expect((await test.history(agent.agentId)).slice(-2)).toEqual(['AgentSleepRequested', 'AgentFellAsleep']);
  });

  it('stops, starts and restarts its agent once each', async () => {
    const agent = await aRunningAgent();
    for (const [name, state, event] of [
      ['stop', 'stopped', 'AgentStopping.v2'],
      ['start', 'running', 'AgentStarting.v2'],
      ['restart', 'running', 'AgentStarting.v2'],
    ] as const) {
      const before = (await test.history(agent.agentId)).filter((type) => type === event).length;
      fail(agentsRequests[name]);
      const request = { ...agent, commandId: newId('cmd') };
      expect(await test.requester.request(agentsRequests[name], request)).toMatchObject({ agent: { state } });
      expect(test.brokerProxy.isArmed).toBe(false);
      // The service handles this request after all copies of the earlier one, so no copy can still take effect below.
      const later = { ...agent, commandId: newId('cmd'), key: 'A', value: name, isSecret: null };
      await test.requester.request(agentsRequests.setEnv, later);
      expect((await test.history(agent.agentId)).filter((type) => type === event)).toHaveLength(before + 1);
    }
  });
});

describe('a late copy of a sleep', () => {
  it.each([
    ['froze the agent', 'AgentFellAsleep'],
    ['did not have the agent', 'AgentStopping.v2'],
  ] as const)(
    'does not put an agent to sleep that was woken in the meantime: at the first copy, the host %s',
    async (what, event) => {
      const agent = await aRunningAgent();
      const { agentId } = agent;
      let isAway = what === 'did not have the agent';
      test.hosts.on(runtimeRequests.freeze, ({ epoch }) => {
        if (epoch > 1) throw new Error('The host is asked to freeze the woken agent.');
        if (isAway) throw new DomainError('not_found', 'agent_not_on_host', 'Not here.');
        return {};
      });
      const sleep = () => test.requester.request(agentsRequests.sleep, agent);
      expect(await sleep()).toMatchObject({ agent: { state: 'sleeping' } });
      isAway = false;
      await test.requester.request(agentsRequests.ensureAwake, {
        ...agent,
        commandId: newId('cmd'),
        kind: 'chat',
        refusedEpoch: null,
      });
      // A host that has thawed the agent, or started it again, rejects the old epoch.
      test.hosts.on(runtimeRequests.freeze, ({ epoch }) => {
        expect(epoch).toBe(1);
        throw new DomainError('conflict', 'stale_epoch', 'The agent has moved on.');
      });
      expect(await sleep()).toMatchObject({ agent: { state: 'running' }, settled: true });
      expect((await test.history(agentId)).filter((type) => type === event)).toHaveLength(1);
      expect((await test.history(agentId)).at(-1)).toBe('AgentStarted');
    },
  );
});
