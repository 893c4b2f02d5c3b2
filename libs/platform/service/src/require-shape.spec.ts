import type { EventDefinition } from '@berth/kernel';
import { expect, it } from 'vitest';
import { requireShape } from './require-shape.js';

const definition = (name: string): EventDefinition<{ readonly agentId: string }> => ({
  context: 'agents',
  name,
  version: 1,
  accepts: (payload): payload is { readonly agentId: string } => 'agentId' in (payload as object),
});

const [stopped, deleted] = [definition('stopped'), definition('deleted')];
const event = {
  name: 'stopped',
  version: 1,
  subject: 'evt.agents.stopped.v1.acc_1.agt_1',
  payload: { agentId: 'agt_1' },
};

it('an event with the shape of its contract is accepted', () => {
  expect(() => requireShape([deleted, stopped], event)).not.toThrow();
});

it.each([
  ['has another payload', [stopped], { ...event, payload: {} }],
  ['is not consumed', [deleted], event],
  ['is of a later version', [stopped], { ...event, version: 2 }],
])('an event that %s is rejected', (_, events, received) => {
  expect(() => requireShape(events, received)).toThrow(event.subject);
});
