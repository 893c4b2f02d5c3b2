import { agentOwnersRequests, agentsRequests } from '@berth/contracts/agents';
import { DomainError, systemClock } from '@berth/kernel';
import { expect, it } from 'vitest';
import { DefaultsCommandHandler } from '../defaults/defaults.command-handler.js';
import { PoliciesInAgents } from './policies-in-agents.js';
import { PolicyCommandHandler } from './policy.command-handler.js';

const policy = { wakes_per_hour: 5 };
const command = {
  ...{ commandId: 'cmd_1', accountId: 'acc_1', externalId: 'ada', policy },
  actor: { kind: 'key', id: 'key_1' },
} as const;

/** Changes a policy while `agents` handles only these requests; returns how often something was written. */
const change = async (
  kind: 'policy' | 'defaults',
  verb: 'set' | 'delete',
  handled: Readonly<Record<string, unknown>>,
): Promise<{ readonly writes: number; readonly result: unknown }> => {
  let writes = 0;
  const handle = () => {
    writes += 1;
    return Promise.resolve({ position: 5n });
  };
  const load = () => Promise.resolve({ endUserId: 'eus_1' });
  const request = ({ subject }: { readonly subject: string }) =>
    Object.hasOwn(handled, subject)
      ? Promise.resolve(handled[subject])
      : Promise.reject(new DomainError('unavailable', 'service_unavailable', 'Down.'));
  const agents = new PoliciesInAgents({ request: request as never }, { warn: () => undefined });
  const store = { handle, load } as never;
  const Handler = kind === 'policy' ? PolicyCommandHandler : DefaultsCommandHandler;
  const handler = new Handler(store, agents, systemClock);
  const result = await handler[verb](command).catch((error: unknown) => error);
  return { writes, result };
};

const EACH = [
  ['policy', 'set'],
  ['policy', 'delete'],
  ['defaults', 'set'],
  ['defaults', 'delete'],
] as const;
const counted = { [agentsRequests.countOfEndUsers.subject]: { counts: { ada: 3 } } };

it.each(EACH)(
  '%s: %s changes nothing if it is refused because agents cannot be reached',
  async (kind, verb) => {
    const { writes, result } = await change(kind, verb, {});
    expect(result).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(writes).toBe(0);
  },
);

it.each(EACH)('%s: %s succeeds once it is written, even if agents ends then', async (kind, verb) => {
  const { writes, result } = await change(kind, verb, counted);
  expect(writes).toBe(1);
  expect(result).not.toBeInstanceOf(Error);
  if (kind === 'policy' && verb === 'set') expect(result).toMatchObject({ agentsUpdated: 3 });
});

it('counts the agents that had the policy put in force', async () => {
  const applied = { [agentOwnersRequests.applyPolicy.subject]: { agentsUpdated: 4 } };
  const { result } = await change('policy', 'set', { ...counted, ...applied });
  expect(result).toEqual({ externalId: 'ada', policy, agentsUpdated: 4 });
});
