import { expect, it } from 'vitest';
import { agentsEvents, type AgentLifecycleEvent } from './agents.events.js';

const payload: AgentLifecycleEvent = {
  agentId: 'agt_1',
  accountId: 'acc_1',
  endUserId: null,
  state: 'stopped',
  epoch: 3,
  at: '2026-11-22T08:00:00.000Z',
};

it('a payload of the declared shape is accepted, also with members that the contract does not know', () => {
  expect(agentsEvents.stopped.accepts(payload)).toBe(true);
  expect(agentsEvents.stopped.accepts({ ...payload, later: 1 })).toBe(true);
});

it.each([
  ['nothing', null],
  ['a missing member', { ...payload, epoch: undefined }],
  ['a member of another type', { ...payload, epoch: '3' }],
  ['a state that the contract does not know', { ...payload, state: 'lost' }],
])('%s is not accepted', (_, given) => {
  expect(agentsEvents.stopped.accepts(given)).toBe(false);
});
