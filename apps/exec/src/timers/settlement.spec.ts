import { DomainError } from '@berth/kernel';
import { expect, it } from 'vitest';
import { Settlement, type SettlementParts } from './settlement.js';

const MANY = 10_050;

it('everything that is lost with a host ends, however many executions that are', async () => {
  const ended = new Set<string>();
  const parts = {
    executions: {
      load: (executionId: string) => Promise.resolve({ status: 'running', executionId, host: 'host1' }),
      end: ({ executionId }: { readonly executionId: string }) => Promise.resolve(ended.add(executionId)),
    },
    vault: { find: () => Promise.resolve(null) },
    hosts: { find: () => Promise.reject(new DomainError('not_found', 'agent_not_on_host', 'No.')) },
    followed: {},
    rerouting: { isOn: () => Promise.resolve(false) },
    patience: { absent: 1, inFlight: 1, missing: 1 },
  } as unknown as SettlementParts;
  const settlement = new Settlement(parts);
  const ids = Array.from({ length: MANY }, (_, index) => `exe_${String(index)}`);
  for (let round = 0; round < 2; round++)
    for (const executionId of ids) await settlement.settle({ executionId, agentEnded: true });
  expect(ended.size).toBe(MANY);
});
