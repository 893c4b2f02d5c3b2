import { createHash } from 'node:crypto';
import { DomainError, newId } from '@berth/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../agent/agent.js';
import { agentToken, tokenSecretOf } from '../agent/agent-token.js';
import { eventsOf, MemoryAgents } from '../fixtures/memory-agents.fixture.js';
import { AuthenticateAgentQuery } from './authenticate-agent.query.js';

const keyring = { current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) };
const agentId = newId('agt');
const { created, starting, started, asleep, stopping, stopped } = eventsOf(agentId);
const running = [created(), starting(1), started(1)];
const startedAnew: AgentEvent = {
  type: 'AgentStartedAnew',
  data: { agentId, epoch: 2, at: '2026-11-21T10:00:00.000Z' },
};
const failed: AgentEvent = {
  type: 'AgentFailed',
  data: { agentId, epoch: 1, code: 'crashed', message: 'It ended.', at: '2026-11-21T10:00:00.000Z' },
};

let memory: MemoryAgents;
let query: AuthenticateAgentQuery;
/** The end users whose activity the query reported. */
let used: string[];

beforeEach(() => {
  memory = new MemoryAgents();
  used = [];
  query = new AuthenticateAgentQuery(
    memory.agents,
    { admit: () => memory.admit() },
    { inForce: () => Promise.resolve(null) },
    { note: (endUserId) => void used.push(endUserId) },
    { keyring },
  );
});

const tokenOf = (epoch: number, id = agentId): string => agentToken(tokenSecretOf(keyring), id, epoch);
const credential = (epoch: number, token = tokenOf(epoch), id = agentId) => ({
  ...{ agentId: id, epoch },
  tokenHash: createHash('sha256').update(token).digest('hex'),
});
const authenticate = (...args: Parameters<typeof credential>) => query.run(credential(...args));
/** Those of the first three epochs whose tokens are accepted. */
const goodEpochs = async (...events: readonly AgentEvent[]): Promise<readonly number[]> => {
  await memory.given(agentId, events);
  const tried = await Promise.allSettled([1, 2, 3].map((epoch) => authenticate(epoch)));
  return tried.flatMap(({ status }, index) => (status === 'fulfilled' ? [index + 1] : []));
};

describe('the token of an agent', () => {
  it.each<[string, readonly AgentEvent[], readonly number[]]>([
    ['starts for the first time', [created(), starting(1)], [1]],
    ['runs', running, [1]],
    ['is being stopped', [...running, stopping(2)], [1]],
    ['is stopped', [...running, stopping(2), stopped(2)], []],
    ['sleeps warm', [...running, asleep(1, 'warm')], []],
    ['sleeps cold', [...running, asleep(1, 'cold')], []],
    ['has failed', [...running, failed], []],
    [
      'thaws, which may turn out to be a start',
      [...running, asleep(1, 'warm'), starting(2, 'wake', true)],
      [1, 2],
    ],
    ['has thawed', [...running, asleep(1, 'warm'), starting(2, 'wake', true), started(2)], [1]],
    [
      'found nothing to thaw',
      [...running, asleep(1, 'warm'), starting(2, 'wake', true), startedAnew, started(2)],
      [2],
    ],
    ['starts cold again', [...running, asleep(1, 'cold'), starting(2, 'wake')], [2]],
    ['has started cold again', [...running, asleep(1, 'cold'), starting(2, 'wake'), started(2)], [2]],
    ['has restarted', [...running, starting(2, 'restart'), started(2)], [2]],
  ])(
    'is accepted only for epochs whose process may be alive, while the agent %s',
    async (_when, events, epochs) => {
      expect(await goodEpochs(...events)).toEqual(epochs);
    },
  );

  it('names the agent and its account', async () => {
    await memory.given(agentId, running);
    expect(await authenticate(1)).toEqual({ agentId, accountId: 'acc_1', suspended: null });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['changed', () => authenticate(1, `${tokenOf(1)}x`)],
    ['of another agent', () => authenticate(1, tokenOf(1, newId('agt')))],
    ['of another epoch', () => authenticate(1, tokenOf(2))],
    ['of an agent that does not exist', () => authenticate(1, undefined, newId('agt'))],
    ['of an id that is not an agent’s', () => authenticate(1, undefined, 'acc_1')],
  ])('%s is refused', async (_what, call) => {
    await memory.given(agentId, running);
    await expect(call()).rejects.toMatchObject({ kind: 'unauthenticated', code: 'unauthenticated' });
  });

  it.each(['account_suspended', 'end_user_suspended'] as const)('says that its owner is %s', async (code) => {
    await memory.given(agentId, running);
    memory.admit = () => Promise.reject(new DomainError('forbidden', code, 'No.'));
    expect(await authenticate(1)).toMatchObject({ suspended: code });
  });

  it('is neither accepted nor rejected while it is unknown whether its owner is suspended', async () => {
    await memory.given(agentId, running);
    memory.admit = () => Promise.reject(new DomainError('unavailable', 'service_unavailable', 'Away.'));
    await expect(authenticate(1)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a call of a model by an agent of an end user', () => {
  const endUserId = newId('eus');
  const owned = [created({ personal: { endUserId, sealed: 'sealed' } }), starting(1), started(1)];

  it('counts as activity of the end user, which no other use of the token does', async () => {
    await memory.given(agentId, owned);
    await authenticate(1);
    expect(used).toEqual([]);
    expect(await query.llmCaller(credential(1))).toMatchObject({ agentId, endUserId });
    expect(used).toEqual([endUserId]);
  });

  it('does not count as activity if it is refused', async () => {
    await memory.given(agentId, owned);
    await expect(query.llmCaller(credential(2))).rejects.toMatchObject({ code: 'unauthenticated' });
    memory.admit = () => Promise.reject(new DomainError('forbidden', 'end_user_suspended', 'No.'));
    expect(await query.llmCaller(credential(1))).toMatchObject({ suspended: 'end_user_suspended' });
    expect(used).toEqual([]);
  });

  it('reports no activity if the agent has no end user', async () => {
    await memory.given(agentId, running);
    expect(await query.llmCaller(credential(1))).toMatchObject({ endUserId: null });
    expect(used).toEqual([]);
  });
});
