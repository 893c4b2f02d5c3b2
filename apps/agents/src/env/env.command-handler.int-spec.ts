import { agentsRequests } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { lockKey } from '@berth/persistence';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACCOUNT, aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

let agents: ServedAgents;

beforeAll(async () => {
  agents = await ServedAgents.start();
  await agents.hosts.add('host1');
});
afterAll(() => agents.stop());

const commandFor = (agentId: string) => ({
  commandId: newId('cmd'),
  accountId: ACCOUNT,
  actor: { kind: 'key', id: 'key_1' } as const,
  agentId,
});

const list = async (agentId: string) => {
  const request = { accountId: ACCOUNT, agentId, after: null };
  const { items } = await agents.requester.request(agentsRequests.listEnv, request);
  return items.map(({ key, value }) => [key, value]);
};

it('executes each command once: a late copy neither replaces a newer value nor restores a deleted variable', async () => {
  const { id } = await agents.create(aCreation());
  const { requester } = agents;
  const first = { ...commandFor(id), key: 'A', value: 'first', isSecret: null };
  const done = await requester.request(agentsRequests.setEnv, first);
  await requester.request(agentsRequests.setEnv, { ...first, ...commandFor(id), value: 'second' });
  expect(await requester.request(agentsRequests.setEnv, first)).toEqual(done);
  expect(await list(id)).toEqual([['A', 'second']]);

  const removal = { ...commandFor(id), key: 'A' };
  await requester.request(agentsRequests.deleteEnv, removal);
  expect(await requester.request(agentsRequests.setEnv, first)).toEqual(done);
  expect(await requester.request(agentsRequests.deleteEnv, removal)).toEqual({});
  expect(await list(id)).toEqual([]);
  await requester.request(agentsRequests.setEnv, { ...first, ...commandFor(id), value: 'third' });
  await requester.request(agentsRequests.deleteEnv, removal);
  expect(await list(id)).toEqual([['A', 'third']]);

  const secret = { ...commandFor(id), key: 'B', value: 'hunter2', isSecret: true };
  const masked = await requester.request(agentsRequests.setEnv, secret);
  expect(masked).toMatchObject({ value: '********', isSecret: true });
  expect(await requester.request(agentsRequests.setEnv, secret)).toEqual(masked);
});

it('removes a variable that is set while its agent is deleted', async () => {
  const { id } = await agents.create(aCreation());
  const variable = { key: 'SECRET', value: 'hunter2', isSecret: true };
  const setting = await agents.database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [lockKey(`env_vault/${id}`)]);
    const set = agents.requester.request(agentsRequests.setEnv, { ...commandFor(id), ...variable });
    set.catch(() => undefined);
    await eventually(async () => {
      const rows = await agents.database.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
      );
      expect(rows).toHaveLength(1);
    });
    await agents.requester.request(agentsRequests.delete, commandFor(id));
    await eventually(async () => expect(await agents.history(id)).toContain('AgentDeleted'));
    return { set };
  });
  await expect(setting.set).rejects.toMatchObject({ code: 'agent_not_found' });
  expect(await agents.database.query('SELECT key FROM env_vault WHERE agent_id = $1', [id])).toEqual([]);
});
