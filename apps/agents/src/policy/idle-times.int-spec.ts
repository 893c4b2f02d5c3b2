import { agentOwnersRequests, agentsRequests } from '@berth/contracts/agents';
import type { HostOrders, ObservedAgent } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import type { Policy } from '@berth/contracts/schema';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../agent/agent.js';
import { eventsOf } from '../fixtures/memory-agents.fixture.js';
import { ACCOUNT, ServedAgents } from '../fixtures/served-agents.fixture.js';

const HOST = 'hst_1';
let test: ServedAgents;
let position = 0;
let logId: string | null = null;

beforeAll(async () => {
  test = await ServedAgents.start();
  await test.hosts.add(HOST);
});
// A host that is silent for long is lost, with its agents.
beforeEach(() => announce([]));
afterEach(() => test.hosts.reset());
afterAll(() => test.stop());

type History = (events: ReturnType<typeof eventsOf>) => readonly AgentEvent[];

const running: History = ({ starting, started }) => [starting(1), started(1)];
const warm: History = (events) => [...running(events), events.asleep(1, 'warm')];
const cold: History = (events) => [...running(events), events.asleep(1, 'cold')];
const shutDown: History = (events) => [...running(events), events.asleep(1, 'cold', 'host_shutdown')];

/** An agent with this history after its creation. */
const agentOf = async (endUserId: string | null, history: History = running): Promise<string> => {
  const agentId = newId('agt');
  // Agents that have slept warm for long turn cold.
  const events = history === warm ? eventsOf(agentId, new Date().toISOString()) : eventsOf(agentId);
  const own = {
    accountId: ACCOUNT,
    ...(endUserId === null ? {} : { personal: { endUserId, sealed: 'p.x' } }),
  };
  await test.append(agentId, 'no_stream', events.created(own), ...history(events));
  await eventually(async () =>
    expect(
      await test.database.query('SELECT FROM agent_list WHERE id = $1 AND epoch = 1', [agentId]),
    ).toHaveLength(1),
  );
  return agentId;
};

const apply = (endUserId: string, policy: Policy | null): Promise<unknown> =>
  test.requester.request(agentOwnersRequests.applyPolicy, {
    ...{ accountId: ACCOUNT, endUserId, policy },
    position: String((position += 1)),
  });
const applyDefaults = (policy: Policy | null): Promise<unknown> =>
  test.requester.request(agentOwnersRequests.applyDefaults, {
    ...{ accountId: ACCOUNT, policy },
    position: String((position += 1)),
  });
const announce = async (agents: readonly ObservedAgent[], incarnation = 'one'): Promise<HostOrders> => {
  const announcement = { host: HOST, incarnation, freeMemMb: 4_096, agents, logId };
  const orders = await test.requester.request(agentsRequests.announceHost, announcement, { host: HOST });
  logId = orders.logId;
  return orders;
};
const sent = () =>
  test.hosts
    .requestsOf(runtimeRequests.setIdleTimes)
    .flatMap(({ host, payload }) => (host === HOST ? payload.agents : []));
const seen = (agentId: string, idleTtlSeconds?: number, epoch = 1): ObservedAgent => ({
  ...{ agentId, epoch, state: 'running' },
  ...(idleTtlSeconds === undefined ? {} : { idleTtlSeconds }),
});

describe('a changed idle time', () => {
  it('is sent to the hosts of the agents of the end user that have processes, and of no others', async () => {
    const endUserId = newId('eus');
    const [awake, frozen] = [await agentOf(endUserId), await agentOf(endUserId, warm)];
    for (const other of [endUserId, newId('eus'), null])
      await agentOf(other, other === endUserId ? cold : running);
    await apply(endUserId, { idle_sleep_seconds: 60 });
    const idle = (idleTtlSeconds: number) =>
      expect.arrayContaining([awake, frozen].map((agentId) => ({ agentId, epoch: 1, idleTtlSeconds })));
    await eventually(() => expect(sent()).toEqual(idle(60)));
    expect(sent()).toHaveLength(2);
    test.hosts.reset();
    await apply(endUserId, null);
    await eventually(() => expect(sent()).toEqual(idle(900)));
  });

  it('of the defaults concerns those without a policy of their own', async () => {
    const [own, none] = [newId('eus'), newId('eus')];
    await apply(own, { wakes_per_hour: 5 });
    await agentOf(own);
    await agentOf(null);
    const agentId = await agentOf(none);
    test.hosts.reset();
    await applyDefaults({ idle_sleep_seconds: 120 });
    await eventually(() => expect(sent()).toContainEqual({ agentId, epoch: 1, idleTtlSeconds: 120 }));
    const owners = await test.database.query<{ end_user_id: string }>(
      'SELECT DISTINCT end_user_id FROM agent_list WHERE id = ANY($1)',
      [sent().map((one) => one.agentId)],
    );
    expect(owners.map(({ end_user_id }) => end_user_id)).toContain(none);
    expect(owners.map(({ end_user_id }) => end_user_id)).not.toContain(own);
    expect(owners.map(({ end_user_id }) => end_user_id)).not.toContain(null);
    await applyDefaults(null);
  });

  it('that did not reach a host is in the response to its next announcement, at the announced epoch', async () => {
    const endUserId = newId('eus');
    const [owned, nobodys] = [await agentOf(endUserId), await agentOf(null)];
    test.hosts.on(runtimeRequests.setIdleTimes, () => {
      throw new Error('The request is lost.');
    });
    await apply(endUserId, { idle_sleep_seconds: 60 });
    const { idleTimes } = await announce([seen(owned, 900), seen(nobodys, 900)]);
    expect(idleTimes).toEqual([{ agentId: owned, epoch: 1, idleTtlSeconds: 60 }]);
    expect((await announce([seen(owned, 60), seen(nobodys, 15)])).idleTimes).toEqual([
      { agentId: nobodys, epoch: 1, idleTtlSeconds: 900 },
    ]);
    // A host of an earlier release does not say what it measures by.
    expect((await announce([seen(owned), seen(nobodys)])).idleTimes).toEqual([]);
  });

  it('is in the request that thaws an agent', async () => {
    const endUserId = newId('eus');
    const agentId = await agentOf(endUserId, warm);
    await apply(endUserId, { idle_sleep_seconds: 60 });
    await test.requester.request(agentsRequests.ensureAwake, {
      ...{ commandId: newId('cmd'), accountId: ACCOUNT, actor: { kind: 'key', id: 'key_1' } },
      ...{ agentId, kind: 'exec', refusedEpoch: null },
    });
    expect(test.hosts.requestsOf(runtimeRequests.thaw)).toEqual([
      { host: HOST, payload: { agentId, epoch: 2, idleTtlSeconds: 60 } },
    ]);
  });
});

describe('an agent that is always on by the policy of its end user', () => {
  it.each([
    ['ended without notice', running],
    ['was shut down in order', shutDown],
  ])('starts again when its host %s, and sleeps by any other policy', async (_, history) => {
    const [always, sometimes] = [newId('eus'), newId('eus')];
    await apply(always, { idle_sleep_seconds: 0 });
    await apply(sometimes, { idle_sleep_seconds: 15 });
    const [on, off] = [await agentOf(always, history), await agentOf(sometimes, history)];
    await announce([], newId('cmd'));
    const since = async (agentId: string): Promise<readonly string[]> =>
      (await test.history(agentId)).slice(1 + history(eventsOf(agentId)).length);
    const unseen = history === shutDown ? [] : ['AgentUnseen'];
    expect((await since(on)).slice(0, unseen.length + 1)).toEqual([...unseen, 'AgentStarting.v2']);
    expect(await since(off)).toEqual(history === shutDown ? [] : [...unseen, 'AgentFellAsleep']);
  });
});
