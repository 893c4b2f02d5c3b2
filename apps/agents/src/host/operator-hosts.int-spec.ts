import { agentsRequests, type AgentView, type HostRef, type HostView } from '@berth/contracts/agents';
import type { ObservedAgent } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId, type CommandEnvelope, type Page, type RequestDefinition } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCreation, ACCOUNT, ServedAgents } from '../fixtures/served-agents.fixture.js';

let test: ServedAgents;

beforeAll(async () => {
  test = await ServedAgents.start();
});
beforeEach(async () => {
  for (const table of ['agent_hosts', 'agent_creations']) await test.database.query(`DELETE FROM ${table}`);
});
afterEach(async () => {
  await test.hosts.stop();
  test.hosts.reset();
});
afterAll(() => test.stop());

const announce = (host: string, freeMemMb = 4_096, agents: readonly ObservedAgent[] = []): Promise<unknown> =>
  test.requester.request(
    agentsRequests.announceHost,
    {
      host,
      incarnation: 'one',
      freeMemMb,
      figures: {
        name: `name of ${host}`,
        driver: 'process',
        version: '9.8.7',
        memMb: { total: 8_192, free: freeMemMb },
        diskGb: { total: 100, free: 40 },
        limitsDisk: false,
        runtimeClasses: ['runc'],
      },
      agents,
      logId: null,
    },
    { host },
  );

/** A host that is up and has announced itself. */
const aHost = async (freeMemMb = 4_096): Promise<string> => {
  const host = newId('hst');
  await test.hosts.add(host);
  await announce(host, freeMemMb);
  return host;
};

const envelope = (): CommandEnvelope => ({
  commandId: newId('cmd'),
  accountId: ACCOUNT,
  actor: { kind: 'key', id: 'key_1' },
});

const order = (definition: RequestDefinition<HostRef, unknown>, hostId: string): Promise<unknown> =>
  test.requester.request(definition, { ...envelope(), hostId });

const list = (cursor: string | null = null, limit = 200): Promise<Page<HostView>> =>
  test.requester.request(agentsRequests.listHosts, { cursor, limit });

const shown = async (host: string): Promise<HostView | undefined> =>
  (await list()).items.find(({ id }) => id === host);

const silentFor = (host: string, seconds: number): Promise<unknown> =>
  test.database.query(
    'UPDATE agent_hosts SET last_seen_at = now() - make_interval(secs => $2) WHERE host = $1',
    [host, seconds],
  );

const runningAgent = async (): Promise<AgentView> => {
  const { id } = await test.create(aCreation());
  return eventually(async () => {
    const agent = await test.get(id);
    expect(agent.state).toBe('running');
    return agent;
  });
};

describe("a host's report about an agent of another host", () => {
  it('changes neither the state of the agent nor its last activity', async () => {
    await aHost(3_000);
    const agent = await runningAgent();
    const host = newId('hst');
    const { agentId, epoch } = { agentId: agent.id, epoch: 1 };
    await test.requester.request(
      agentsRequests.reportObservation,
      { host, agentId, epoch, observation: { type: 'asleep', depth: 'cold', reason: 'idle' } },
      { host },
    );
    const lastActiveAt = new Date(Date.now() + 3_600_000).toISOString();
    await test.requester.request(
      agentsRequests.reportActivity,
      { host, items: [{ agentId, lastActiveAt, lastActivityKind: 'chat', sleepAt: null }] },
      { host },
    );
    expect(await test.get(agentId)).toMatchObject({ state: 'running', lastActiveAt: agent.lastActiveAt });
  });
});

describe('the list of hosts', () => {
  it('shows what each host last announced, and its agents', async () => {
    const host = await aHost(3_000);
    await runningAgent();
    expect(await shown(host)).toEqual({
      id: host,
      name: `name of ${host}`,
      driver: 'process',
      version: '9.8.7',
      state: 'ready',
      agents: { awake: 1, warm: 0, cold: 0 },
      memMb: { total: 8_192, free: 3_000 },
      diskGb: { total: 100, free: 40 },
      runtimeClasses: ['runc'],
      lastSeenAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
  });

  it('shows every host once, in pages', async () => {
    const hosts = [await aHost(), await aHost(), await aHost()];
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<HostView> = await list(cursor, 1);
      expect(page.items.length).toBeLessThanOrEqual(1);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids).toEqual(expect.arrayContaining(hosts));
  });

  it('shows a host as lost when it was not seen for 30 s', async () => {
    const host = await aHost();
    await silentFor(host, 29);
    expect((await shown(host))?.state).toBe('ready');
    await silentFor(host, 31);
    expect((await shown(host))?.state).toBe('lost');
    await announce(host);
    expect((await shown(host))?.state).toBe('ready');
  });
});

describe('a drained host', () => {
  it('gets no new agents from the moment that the drain has returned, and gets them again once resumed', async () => {
    const [small, large] = [await aHost(4_096), await aHost(8_192)];
    await order(agentsRequests.drainHost, large);
    expect((await shown(large))?.state).toBe('draining');
    await runningAgent();
    expect((await shown(small))?.agents.awake).toBe(1);
    await order(agentsRequests.resumeHost, large);
    await runningAgent();
    expect((await shown(large))?.agents.awake).toBe(1);
  });

  it('gets no new agents either while the tables do not show yet that it is drained', async () => {
    const [small, large] = [await aHost(4_096), await aHost(8_192)];
    await order(agentsRequests.drainHost, large);
    expect((await shown(large))?.state).toBe('draining');
    await test.database.query(`UPDATE host_list SET status = 'ready' WHERE id = $1`, [large]);
    await runningAgent();
    expect((await shown(small))?.agents.awake).toBe(1);
  });

  it('stays drained when it announces itself again', async () => {
    const host = await aHost();
    await order(agentsRequests.drainHost, host);
    await announce(host);
    expect((await shown(host))?.state).toBe('draining');
    await expect(test.create(aCreation())).rejects.toMatchObject({ code: 'no_capacity' });
  });

  it('wakes the agents that it has', async () => {
    const host = await aHost();
    const { id } = await runningAgent();
    await test.requester.request(agentsRequests.sleep, {
      ...envelope(),
      agentId: id,
    });
    await order(agentsRequests.drainHost, host);
    expect(
      await test.requester.request(agentsRequests.ensureAwake, {
        ...envelope(),
        agentId: id,
        kind: 'exec',
        refusedEpoch: null,
      }),
    ).toMatchObject({ host, epoch: 2 });
  });
});

describe('an agent that fits no host', () => {
  it('is refused with no_capacity, and its name stays free', async () => {
    const host = await aHost(1_000);
    const described = { host, driver: 'process', freeMemMb: 1_000, agents: 0, logId: null };
    test.hosts.on(runtimeRequests.hosts, () => described);
    const creation = aCreation({ resources: { memMb: 1_001 } });
    await expect(test.create(creation)).rejects.toMatchObject({ kind: 'unavailable', code: 'no_capacity' });
    expect(await test.database.query('SELECT 1 FROM agent_creations')).toEqual([]);
    await announce(host, 1_001);
    await test.create(aCreation({ name: creation.name, resources: { memMb: 1_001 } }));
  });
});

describe('the removal of a host', () => {
  it('is refused while the host was seen within 30 s, and while it responds', async () => {
    const host = await aHost();
    const refused = { kind: 'conflict', code: 'host_not_lost' };
    await expect(order(agentsRequests.removeHost, host)).rejects.toMatchObject(refused);
    await silentFor(host, 31);
    await expect(order(agentsRequests.removeHost, host)).rejects.toMatchObject(refused);
  });

  it('fails its agents with host_removed; they can be deleted, and the host is refused when it returns', async () => {
    const host = await aHost();
    const { id, name } = await runningAgent();
    await test.hosts.remove(host);
    await silentFor(host, 31);
    await order(agentsRequests.removeHost, host);
    expect(await shown(host)).toBeUndefined();
    await eventually(async () =>
      expect(await test.get(id)).toMatchObject({ state: 'failed', lastError: { code: 'host_removed' } }),
    );
    await expect(announce(host)).rejects.toMatchObject({ kind: 'conflict', code: 'host_removed' });
    expect(await shown(host)).toBeUndefined();
    expect((await test.requester.request(agentsRequests.removedHosts, {})).hosts).toContain(host);
    for (const again of [agentsRequests.removeHost, agentsRequests.drainHost])
      await expect(order(again, host)).rejects.toMatchObject({ code: 'host_not_found' });
    await test.requester.request(agentsRequests.delete, {
      ...envelope(),
      agentId: id,
    });
    await aHost();
    await eventually(() => test.create(aCreation({ name })));
    expect(test.hosts.requestsOf(runtimeRequests.remove)).toEqual([]);
  });

  it('of an unknown host is not_found', async () => {
    for (const id of [newId('hst'), 'host', ''])
      await expect(order(agentsRequests.removeHost, id)).rejects.toMatchObject({
        code: 'host_not_found',
      });
  });
});
