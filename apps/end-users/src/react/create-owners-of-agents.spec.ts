import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import type { ReceivedEvent } from '@berth/messaging';
import { expect, it } from 'vitest';
import type { EndUser } from '../end-user/end-user.js';
import { CreateOwnersOfAgents } from './create-owners-of-agents.js';

const agentId = 'agt_1';
const endUserId = 'eus_1';

/** What the reaction does about the creation of an agent while its owner is in this state. */
const reactionTo = async (
  kind: EndUser['kind'],
  payload: Partial<AgentLifecycleEvent> = {},
  externalIdOf: () => Promise<string | null> = () => Promise.resolve('ada'),
): Promise<readonly unknown[]> => {
  const done: unknown[] = [];
  const reaction = new CreateOwnersOfAgents(
    { load: () => Promise.resolve({ state: { kind } as EndUser, revision: 0n }) },
    { createEnlisted: (command) => Promise.resolve(void done.push(['create', command])) },
    { externalIdOf, delete: (_, id) => Promise.resolve(void done.push(['delete', id])) },
  );
  const created = { agentId, accountId: 'acc_1', endUserId, state: 'deploying', epoch: 0, at: '' } as const;
  const event = { name: agentsEvents.created.name, payload: { ...created, ...payload } };
  await reaction.handle(event as unknown as ReceivedEvent<AgentLifecycleEvent>);
  return done;
};

it('the owner of a new agent is created if the creation of the agent did not get that far', async () => {
  expect(await reactionTo('unknown')).toMatchObject([
    ['create', { endUserId, externalId: 'ada', accountId: 'acc_1' }],
  ]);
  expect(await reactionTo('live')).toEqual([]);
});

it('the owner of a new agent is created by who created the agent', async () => {
  const createdBy = { kind: 'key', id: 'key_1' } as const;
  expect(await reactionTo('unknown', { createdBy })).toMatchObject([['create', { actor: createdBy }]]);
  // As in events of earlier releases.
  expect(await reactionTo('unknown')).toMatchObject([['create', { actor: { kind: 'system' } }]]);
});

it('a new agent whose owner was deleted meanwhile is deleted', async () => {
  expect(await reactionTo('deleted')).toEqual([['delete', agentId]]);
});

it('an agent without an end user, or one that is deleted, creates no end user', async () => {
  expect(await reactionTo('unknown', { endUserId: null })).toEqual([]);
  const gone = () => Promise.reject(new DomainError('not_found', 'agent_not_found', 'Gone.'));
  expect(await reactionTo('unknown', {}, gone)).toEqual([]);
});

it('an outage is an error, so that the event is delivered again', async () => {
  const down = () => Promise.reject(new DomainError('unavailable', 'service_unavailable', 'Down.'));
  await expect(reactionTo('unknown', {}, down)).rejects.toMatchObject({ code: 'service_unavailable' });
});
