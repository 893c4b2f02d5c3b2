import { agentsRequests, type FoundAddressee } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT, aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

let served: ServedAgents;

beforeAll(async () => {
  served = await ServedAgents.start();
  await served.hosts.add('hst-one');
});
afterAll(() => served.stop());

const created = async (): Promise<string> => {
  const { id } = await served.create(aCreation());
  await eventually(async () => (await served.get(id)).state === 'running', { timeoutMs: 20_000 });
  return id;
};
const find = async (...agentIds: readonly string[]): Promise<readonly FoundAddressee[]> =>
  (await served.requester.request(agentsRequests.addressees, { agentIds })).found;

describe('a look-up of many addressees', () => {
  it('finds the agents that exist, and none that were deleted or never existed', async () => {
    const [kept, removed] = [await created(), await created()];
    const addressee = { agentId: kept, accountId: ACCOUNT, suspended: null };
    expect((await find(newId('agt'), removed, kept)).map(({ agentId }) => agentId).toSorted()).toEqual(
      [removed, kept].toSorted(),
    );
    const actor = { kind: 'system', id: 'test' } as const;
    await served.requester.request(agentsRequests.delete, {
      ...{ commandId: newId('cmd'), accountId: ACCOUNT, actor, agentId: removed },
    });
    expect(await find(newId('agt'), removed, kept)).toEqual([addressee]);
    expect(await find()).toEqual([]);
  });

  it('finds an agent that the agent list does not contain yet', async () => {
    const agentId = await created();
    await served.database.query('DELETE FROM agent_list_v3 WHERE id = $1', [agentId]);
    expect(await find(agentId)).toEqual([{ agentId, accountId: ACCOUNT, suspended: null }]);
  });

  it('reports the suspension of the account, which takes precedence over that of the end user', async () => {
    const agentId = await created();
    await served.database.query("UPDATE agent_list_v3 SET end_user_id = 'eus_1' WHERE id = $1", [agentId]);
    const suspend = (table: string, key: string, id: string, suspended: boolean) =>
      served.database.query(
        `INSERT INTO ${table} (${key}, suspended, position) VALUES ($1, $2, 1)
         ON CONFLICT (${key}) DO UPDATE SET suspended = $2`,
        [id, suspended],
      );
    const suspension = async () => (await find(agentId))[0]?.suspended;
    await suspend('end_user_suspensions', 'end_user_id', 'eus_1', true);
    expect(await suspension()).toBe('end_user_suspended');
    await suspend('account_suspensions', 'account_id', ACCOUNT, true);
    expect(await suspension()).toBe('account_suspended');
    await suspend('end_user_suspensions', 'end_user_id', 'eus_1', false);
    await suspend('account_suspensions', 'account_id', ACCOUNT, false);
    expect(await suspension()).toBeNull();
  });
});
