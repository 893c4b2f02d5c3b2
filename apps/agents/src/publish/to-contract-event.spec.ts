import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedEvent, StoredEvent } from '@berth/event-store';
import { expect, it } from 'vitest';
import { toContractEvent } from './to-contract-event.js';

const actor = { kind: 'key', id: 'key_1' } as const;

const recorded = (type: string): RecordedEvent => {
  const file = join(import.meta.dirname, '..', 'agent', '__events__', `${type}.json`);
  const stored = JSON.parse(readFileSync(file, 'utf8')) as StoredEvent;
  return {
    ...{ id: '00000000-0000-5000-8000-000000000000', stream: 'agent-1', revision: 0n, position: 0n },
    ...{ createdAt: new Date(0), type: stored.type, data: stored.data },
    metadata: { correlationId: 'req_1', causationId: 'cmd_1', accountId: 'acc_1', actor },
  };
};

it('the creation of an agent is announced with its end user and its creator, and without names', () => {
  const stored = recorded('AgentCreated.v3');
  const { personal } = stored.data as { personal: { endUserId: string | null } };
  const { payload } = toContractEvent(stored) ?? {};
  expect(payload).toMatchObject({ accountId: 'acc_1', endUserId: personal.endUserId, createdBy: actor });
  expect(JSON.stringify(payload)).not.toContain('sealed');
});

it('other events do not name who caused them', () => {
  expect(toContractEvent(recorded('AgentFellAsleep'))?.payload).not.toHaveProperty('createdBy');
});
