import { agentsRequests } from '@berth/contracts/agents';
import { deriveId, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aCreation, ACCOUNT, createsNamed, ServedAgents } from '../fixtures/served-agents.fixture.js';

let test: ServedAgents;

beforeAll(async () => {
  test = await ServedAgents.start();
  await test.hosts.add('host1');
});
afterEach(() => test.hosts.reset());
afterAll(() => test.stop());

const command = (agentId: string) => ({
  commandId: newId('cmd'),
  accountId: ACCOUNT,
  actor: { kind: 'key', id: 'key_1' } as const,
  agentId,
});

describe('a retried create', () => {
  it('returns the agent of its first try', async () => {
    const creation = aCreation({ externalId: newId('req'), env: [{ key: 'A', value: '1', isSecret: true }] });
    const first = await test.create(creation);
    const again = await test.create(creation);
    expect(again).toEqual(first);
    expect(first).toMatchObject({ id: deriveId('agt', creation.commandId), state: 'deploying' });
    expect((await test.log('agent')).filter(createsNamed(creation.name))).toHaveLength(1);
  });

  it('creates one agent when it runs concurrently with its first try', async () => {
    await test.another();
    const creation = aCreation({ externalId: newId('req') });
    const views = await Promise.all([1, 2, 3, 4].map(() => test.create(creation)));
    expect(new Set(views.map(({ id }) => id)).size).toBe(1);
    expect((await test.log('agent')).filter(createsNamed(creation.name))).toHaveLength(1);
  });

  it('keeps variables that were changed since its first try', async () => {
    const creation = aCreation({ env: [{ key: 'A', value: 'first', isSecret: false }] });
    const { id } = await test.create(creation);
    await test.requester.request(agentsRequests.setEnv, {
      ...command(id),
      key: 'A',
      value: 'second',
      isSecret: null,
    });
    await test.create(creation);
    const { items } = await test.requester.request(agentsRequests.listEnv, {
      accountId: ACCOUNT,
      agentId: id,
      after: null,
    });
    expect(items).toMatchObject([{ key: 'A', value: 'second' }]);
  });

  it('returns the same view after the agent was deleted, and takes no name from another agent', async () => {
    const creation = aCreation();
    const first = await test.create(creation);
    await test.requester.request(agentsRequests.delete, command(first.id));
    const other = await test.create(aCreation({ name: creation.name }));
    expect(await test.create(creation)).toEqual(first);
    await expect(test.create(aCreation({ name: creation.name }))).rejects.toMatchObject({
      code: 'agent_name_taken',
      context: { agentId: other.id },
    });
  });

  it('creates the agent after its first try failed', async () => {
    const creation = aCreation({ externalId: newId('req'), env: [{ key: 'A', value: '1', isSecret: true }] });
    await test.database.query('ALTER TABLE env_vault RENAME TO env_vault_away');
    await expect(test.create(creation)).rejects.toThrow();
    await test.database.query('ALTER TABLE env_vault_away RENAME TO env_vault');
    const agentId = deriveId('agt', creation.commandId);
    await eventually(async () => expect(await test.history(agentId)).toEqual(['AgentCreationAbandoned']));
    expect(await test.create(creation)).toMatchObject({ id: agentId, state: 'deploying' });
    const { items } = await test.requester.request(agentsRequests.listEnv, {
      accountId: ACCOUNT,
      agentId,
      after: null,
    });
    expect(items).toMatchObject([{ key: 'A', isSecret: true }]);
  });
});

describe('a create that failed', () => {
  it('releases the name and the external id', async () => {
    const creation = aCreation({ externalId: newId('req'), env: [{ key: 'A', value: '1', isSecret: true }] });
    await test.database.query('ALTER TABLE env_vault RENAME TO env_vault_away');
    await expect(test.create(creation)).rejects.toThrow();
    await test.database.query('ALTER TABLE env_vault_away RENAME TO env_vault');
    const { name, externalId } = creation;
    const other = await eventually(() => test.create(aCreation({ name, externalId })));
    await expect(test.create(creation)).rejects.toMatchObject({
      code: 'agent_name_taken',
      context: { agentId: other.id },
    });
  });
});

describe('while the agent list lags', () => {
  it('create returns the new agent', async () => {
    const creation = aCreation({ labels: { a: 'b' }, instructions: 'Be kind.' });
    const agent = await test.withListHeld(() => test.create(creation));
    expect(agent).toMatchObject({ name: creation.name, state: 'deploying', labels: { a: 'b' } });
    const shown = await eventually(() => test.get(agent.id));
    expect({ ...agent, ...volatile(shown) }).toEqual(shown);
  });

  it('a read after a create returns the agent', async () => {
    const { id } = await test.withListHeld(async () => {
      const agent = await test.create(aCreation());
      expect(await test.get(agent.id)).toMatchObject({ id: agent.id });
      return agent;
    });
    await expect(
      test.requester.request(agentsRequests.get, { accountId: 'acc_2', agentId: id, wait: null }),
    ).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it.each([
    ['stop', 'stopped'],
    ['sleep', 'sleeping'],
    ['restart', 'running'],
  ] as const)('%s returns the agent in its new state', async (verb, state) => {
    const { id } = await test.create(aCreation());
    await eventually(async () => expect((await test.get(id)).state).toBe('running'));
    const result = await test.withListHeld(() =>
      test.requester.request(agentsRequests[verb], command(id), { deadlineMs: 20_000 }),
    );
    expect(result).toMatchObject({ agent: { id, state }, settled: true });
    await eventually(async () => expect(await test.get(id)).toEqual(result.agent));
  });

  it('reload returns the agent in its current state', async () => {
    const { id } = await test.create(aCreation());
    const agent = await test.withListHeld(() =>
      test.requester.request(agentsRequests.reloadEnv, command(id), { deadlineMs: 20_000 }),
    );
    expect(agent).toMatchObject({ id, state: 'running' });
  });

  it('delete succeeds, and releases the name', async () => {
    const { id, name } = await test.create(aCreation());
    await test.withListHeld(() => test.requester.request(agentsRequests.delete, command(id)));
    expect((await test.create(aCreation({ name }))).id).not.toBe(id);
  });
});

/** Members that change without a request soon after a create. */
const volatile = (agent: object): object =>
  Object.fromEntries(
    Object.entries(agent).filter(([key]) =>
      [
        'state',
        'stateReason',
        'stateChangedAt',
        'guest',
        'updatedAt',
        'sleepAt',
        'lastActiveAt',
        'lastActivityKind',
      ].includes(key),
    ),
  );

describe('the log', () => {
  it('contains no value of a variable that an agent is created with', async () => {
    const value = 'never in the log';
    const env = [{ key: 'TOKEN', value, isSecret: true }];
    await test.create(aCreation({ externalId: newId('req'), env }));
    const events = await test.log('agent', 'agentName', 'agentExternalId', 'agentEnv');
    expect(events.map(({ type }) => type)).toContain('NameReserved.v2');
    expect(events.filter(({ data }) => JSON.stringify(data).includes(value))).toEqual([]);
  });

  it('has the account of every event', async () => {
    const events = await test.log('agent', 'agentName', 'agentExternalId', 'agentEnv');
    expect(events.map(({ type }) => type)).toContain('AgentCreationAbandoned');
    expect(events.filter(({ metadata }) => metadata.accountId !== ACCOUNT)).toEqual([]);
  });
});
