import { isId, newId } from '@berth/kernel';
import { expect, it } from 'vitest';
import { deliveryIdOf } from './delivery-id.js';

it('the id of a delivery is the same for the same agent, entry and time, and for no others', () => {
  const due = { agentId: newId('agt'), entryId: 'daily', dueAt: Date.parse('2026-11-28T08:00:00Z') };
  const others = [{ agentId: newId('agt') }, { entryId: 'weekly' }, { dueAt: due.dueAt + 1 }];
  const ids = [due, ...others.map((other) => ({ ...due, ...other }))].map(deliveryIdOf);
  expect(ids.every((id) => isId('dlv', id))).toBe(true);
  expect(new Set(ids).size).toBe(4);
  expect(deliveryIdOf({ ...due })).toBe(ids[0]);
});
