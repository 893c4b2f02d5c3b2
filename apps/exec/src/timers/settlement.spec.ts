import { DomainError } from '@berth/kernel';
import { expect, it } from 'vitest';
import type { ExecutionRepository } from '../execution/execution.repository.js';
import type { FollowedExecutions } from '../execution/followed-executions.js';
import type { ExecutionHosts } from '../host/execution-host.js';
import type { OutputVault } from '../output/output-vault.js';
import type { ReroutedExecutions } from '../submission/rerouted-executions.js';
import { Settlement } from './settlement.js';

const MANY = 10_050;

it('every execution of a lost host ends, however many there are', async () => {
  const ended = new Set<string>();
  const executions = {
    load: (executionId: string) => Promise.resolve({ status: 'running', executionId, host: 'host1' }),
    end: ({ executionId }: { readonly executionId: string }) => Promise.resolve(ended.add(executionId)),
  } as unknown as ExecutionRepository;
  const vault = { find: () => Promise.resolve(null) } as unknown as OutputVault;
  const hosts = {
    find: () => Promise.reject(new DomainError('not_found', 'agent_not_on_host', 'No.')),
  } as unknown as ExecutionHosts;
  const rerouted = { has: () => Promise.resolve(false) } as unknown as ReroutedExecutions;
  const followed = {} as unknown as FollowedExecutions;
  const giveUpAfter = { absent: 1, preclude: 1, inFlight: 1, missing: 1 };
  const settlement = new Settlement(executions, vault, hosts, followed, rerouted, { giveUpAfter });
  const ids = Array.from({ length: MANY }, (_, index) => `exe_${String(index)}`);
  for (let round = 0; round < 2; round++)
    for (const executionId of ids) await settlement.settle({ executionId, agentEnded: true });
  expect(ended.size).toBe(MANY);
});
