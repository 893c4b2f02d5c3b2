import { agentsRequests, type AgentView } from '@berth/contracts/agents';
import type { HostOrders, ObservedAgent } from '@berth/contracts/hosting';
import { runtimeRequests, type HostView } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

let test: ServedAgents;

beforeAll(async () => {
  test = await ServedAgents.start();
});
beforeEach(async () => {
  await test.database.query('DELETE FROM agent_hosts');
  await test.database.query('DELETE FROM agent_creations');
});
afterEach(async () => {
  await test.hosts.stop();
  test.hosts.reset();
});
afterAll(() => test.stop());

const announce = (
  host: string,
  freeMemMb: number,
  agents: readonly ObservedAgent[] = [],
  logId: string | null = null,
): Promise<HostOrders> =>
  test.requester.request(
    agentsRequests.announceHost,
    { host, incarnation: 'one', freeMemMb, agents, logId },
    { host },
  );

const add = async (host: string, freeMemMb: number): Promise<void> => {
  await test.hosts.add(host);
  await announce(host, freeMemMb);
};

const hostOf = async ({ id }: AgentView): Promise<string> => {
  const events = await test.store.read(`agent-${id}`);
  return String(events.find(({ type }) => type === 'AgentStarting.v2')?.data['host']);
};

/** The number of these agents on each host. */
const spread = async (agents: readonly AgentView[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const host of await Promise.all(agents.map(hostOf))) counts[host] = (counts[host] ?? 0) + 1;
  return counts;
};

/** Hosts that did not respond within 500 ms when they were chosen. */
const silentHosts = async (): Promise<string[]> => {
  const rows = await test.database.query<{ host: string }>(
    'SELECT host FROM agent_hosts WHERE silent_since IS NOT NULL',
  );
  return rows.map(({ host }) => host);
};

const createMany = (count: number): Promise<AgentView[]> =>
  Promise.all(Array.from({ length: count }, () => test.create(aCreation({ resources: { memMb: 256 } }))));

describe('a host of an installation with another event log', () => {
  it('is refused, so it removes no agents and gets no new ones', async () => {
    await test.hosts.add('host1');
    const foreign = [{ agentId: newId('agt'), epoch: 1, state: 'running' }] as const;
    await expect(announce('host1', 4_096, foreign, 'another_log')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'other_event_log',
    });
    expect(await test.database.query("SELECT 1 FROM agent_hosts WHERE host = 'host1'")).toEqual([]);
  });

  it('gets no agents when hosts are found by broadcast, however much memory it has', async () => {
    for (const host of ['host1', 'host2']) await test.hosts.add(host);
    test.hosts.on(runtimeRequests.hosts, (_, host) => ({
      host,
      driver: 'process',
      freeMemMb: host === 'host1' ? 8_192 : 4_096,
      agents: 0,
      logId: host === 'host1' ? 'another_log' : null,
    }));
    expect(await spread(await createMany(1))).toEqual({ host2: 1 });
    await test.hosts.remove('host2');
    await test.database.query('DELETE FROM agent_creations');
    await expect(test.create(aCreation())).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'no_capacity',
    });
  });

  it('gets the order to remove agents that are not in its own log', async () => {
    await test.hosts.add('host1');
    const { logId } = await announce('host1', 4_096);
    const agentId = newId('agt');
    const orders = await announce('host1', 4_096, [{ agentId, epoch: 1, state: 'running' }], logId);
    expect(orders).toEqual({ remove: [agentId], stop: [], idleTimes: [], logId });
  });
});

describe('a new agent', () => {
  it('is placed without a broadcast when the hosts have announced themselves', async () => {
    await add('host1', 4_096);
    await test.create(aCreation());
    expect(test.hosts.requestsOf(runtimeRequests.hosts)).toEqual([]);
  });

  it('is placed on the host with the most free memory', async () => {
    await add('host1', 4_096);
    await add('host2', 8_192);
    expect(await hostOf(await test.create(aCreation()))).toBe('host2');
  });

  it('is not placed on a host that has died since it announced itself, nor are the next ones', async () => {
    await add('host1', 4_096);
    await add('host2', 8_192);
    await test.hosts.remove('host2');
    expect(await spread(await createMany(1))).toEqual({ host1: 1 });
    expect(await silentHosts()).toEqual(['host2']);
    await test.hosts.add('host2');
    await announce('host2', 8_192);
    expect(await spread(await createMany(1))).toEqual({ host2: 1 });
  });

  it('is not placed on a host that does not respond', async () => {
    await add('host1', 4_096);
    await add('host2', 8_192);
    test.hosts.on(runtimeRequests.describe, (_, host) =>
      host === 'host2'
        ? new Promise(() => undefined)
        : { host, driver: 'process', freeMemMb: 4_096, agents: 0, logId: null },
    );
    expect(await spread(await createMany(4))).toEqual({ host1: 4 });
  });

  it('is not placed on a host that can start no agents, and is refused when there is no other', async () => {
    await add('host1', 4_096);
    await add('host2', 8_192);
    test.hosts.on(runtimeRequests.describe, (_, host) => {
      if (host === 'host2') throw new DomainError('unavailable', 'service_unavailable', 'Not now.');
      return { host, driver: 'process', freeMemMb: 4_096, agents: 0, logId: null };
    });
    expect(await spread(await createMany(1))).toEqual({ host1: 1 });
    await test.hosts.remove('host1');
    await expect(test.create(aCreation())).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('is not placed on a host whose disk has filled up since it announced itself, and is refused when there is no other', async () => {
    const figures = (free: number): Pick<HostView, 'diskGb' | 'limitsDisk'> => ({
      diskGb: { total: 100, free },
      limitsDisk: true,
    });
    await add('host1', 4_096);
    await add('host2', 8_192);
    for (const definition of [runtimeRequests.hosts, runtimeRequests.describe])
      test.hosts.on(definition, (_, host) => ({
        ...{ host, driver: 'nerdctl', freeMemMb: 4_096, agents: 0, logId: null },
        ...figures(host === 'host1' ? 50 : 0),
      }));
    expect(await spread(await createMany(1))).toEqual({ host1: 1 });
    await test.hosts.remove('host1');
    await expect(test.create(aCreation())).rejects.toMatchObject({ code: 'no_capacity' });
  });

  it('is placed on a host that has not announced itself yet but responds', async () => {
    await test.hosts.add('host1');
    expect(await spread(await createMany(1))).toEqual({ host1: 1 });
  });

  it('fails with unavailable without a host, and leaves nothing behind', async () => {
    const creation = aCreation({ env: [{ key: 'A', value: '1', isSecret: true }] });
    await expect(test.create(creation)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'no_capacity',
    });
    expect(await test.database.query('SELECT agent_id FROM agent_creations')).toEqual([]);
    await add('host1', 4_096);
    await test.create(aCreation({ name: creation.name }));
  });
});

describe('concurrently created agents', () => {
  it('are spread over the hosts by their free memory, also from two processes', async () => {
    const other = await test.another();
    const memory = { host1: 8_192, host2: 8_192, host3: 8_192 - 4 * 256 };
    for (const host of Object.keys(memory)) await test.hosts.add(host);
    // On a busy machine a host may respond too late and then rightly gets no agents: repeat until all respond in time.
    const agents = await eventually(
      async () => {
        await test.database.query('DELETE FROM agent_creations');
        for (const [host, freeMemMb] of Object.entries(memory)) await announce(host, freeMemMb);
        const created = await createMany(20);
        expect(await silentHosts()).toEqual([]);
        return created;
      },
      { timeoutMs: 60_000 },
    );
    expect(await spread(agents)).toEqual({ host1: 8, host2: 8, host3: 4 });
    await other.stop();
  });

  it('count against the memory of their host until the host reports them', async () => {
    await add('host1', 4_096);
    await add('host2', 4_095);
    const [first] = await createMany(1);
    if (first === undefined) throw new Error('There is no agent.');
    expect(await hostOf(first)).toBe('host1');
    await eventually(async () => expect((await test.get(first.id)).state).toBe('running'));
    // The agent uses less memory than its limit.
    await announce('host1', 4_090, [{ agentId: first.id, epoch: 1, state: 'running' }]);
    await announce('host2', 4_000);
    expect(await spread(await createMany(1))).toEqual({ host1: 1 });
  });
});
