import { agentsRequests, type ListAgents } from '@berth/contracts/agents';
import { createLogger } from '@berth/telemetry';
import { expect, it } from 'vitest';
import { AgentsOfEndUser } from './agents-of-end-user.js';

it('the agents of an end user are deleted without those of the next one with its external id', async () => {
  const owners = new Map([
    ['agt_1', 'eus_old'],
    ['agt_2', 'eus_old'],
    ['agt_3', 'eus_new'],
  ]);
  const request = ({ subject }: { readonly subject: string }, payload: unknown): Promise<unknown> => {
    if (subject === agentsRequests.delete.subject) {
      owners.delete((payload as { agentId: string }).agentId);
      return Promise.resolve({});
    }
    const { endUserId, externalUserId } = payload as ListAgents;
    expect([subject, externalUserId]).toEqual([agentsRequests.list.subject, 'ada']);
    const isListed = (owner: string): boolean => [owner, null, undefined].includes(endUserId);
    const items = [...owners].flatMap(([id, owner]) => (isListed(owner) ? [{ id }] : []));
    return Promise.resolve({ items, nextCursor: null });
  };
  const agents = new AgentsOfEndUser(
    { request } as ConstructorParameters<typeof AgentsOfEndUser>[0],
    createLogger({ service: 'test', level: 'silent' }),
  );
  const envelope = { commandId: 'cmd_1', accountId: 'acc_1', actor: { kind: 'system', id: 'test' } } as const;
  await agents.deleteAll(envelope, { accountId: 'acc_1', endUserId: 'eus_old', externalId: 'ada' });
  expect([...owners.keys()]).toEqual(['agt_3']);
});
