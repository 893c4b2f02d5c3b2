import { agentsRequests } from '@berth/contracts/agents';
import type { HostFigures } from '@berth/contracts/hosting';
import { runtimeRequests, type HostView } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, ServedAgents } from '../fixtures/served-agents.fixture.js';
import { HostProbe } from './host-probe.js';
import { HostStreams } from './host.streams.js';
import { Placement, UNREPORTED_SECONDS } from './placement.js';

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

const figures = (host: string, freeMemMb: number, desktops: boolean): HostFigures => ({
  ...{ name: host, driver: 'process', version: '1.0.0', runtimeClasses: [], limitsDisk: false, desktops },
  memMb: { total: 16_384, free: freeMemMb },
  diskGb: { total: 100, free: 50 },
});

/** What hosts have: free memory, and whether there are desktops. */
type Has = Readonly<Record<string, readonly [freeMemMb: number, desktops: boolean]>>;

/** Hosts that say this of themselves when they are asked. */
const respond = (has: Has): void => {
  for (const definition of [runtimeRequests.hosts, runtimeRequests.describe])
    test.hosts.on(definition, (_, host): HostView => {
      const [freeMemMb, desktops] = has[host] ?? [0, false];
      const { driver, diskGb, limitsDisk } = figures(host, freeMemMb, desktops);
      return { host, driver, freeMemMb, agents: 0, logId: null, diskGb, limitsDisk, desktops };
    });
};

const add = async (has: Has): Promise<void> => {
  respond(has);
  for (const [host, [freeMemMb, desktops]] of Object.entries(has)) {
    await test.hosts.add(host);
    const announcement = { host, incarnation: 'one', freeMemMb, agents: [], logId: null };
    await test.requester.request(
      agentsRequests.announceHost,
      { ...announcement, figures: figures(host, freeMemMb, desktops) },
      { host },
    );
  }
};

const place = async (computerId = newId('cmp')): Promise<string> => {
  const size = { memMb: 2_048, diskGb: 10 };
  const { host } = await test.requester.request(agentsRequests.placeComputer, {
    computerId,
    accountId: ACCOUNT,
    ...size,
  });
  return host;
};

describe('a new computer', () => {
  it('is placed on the host with the most free memory of those that have desktops', async () => {
    await add({ host1: [4_096, true], host2: [6_000, true], host3: [16_000, false] });
    expect(await place()).toBe('host2');
    // The first one counts although its host does not announce it to this service.
    expect(await place()).toBe('host1');
  });

  it('is placed on a host that has not announced itself yet but responds', async () => {
    await test.hosts.add('host1');
    respond({ host1: [4_096, true] });
    expect(await place()).toBe('host1');
  });

  it('is not placed on a host that has lost its desktops since it announced itself', async () => {
    await add({ host1: [4_096, true], host2: [8_192, true] });
    respond({ host1: [4_096, true], host2: [8_192, false] });
    expect(await place()).toBe('host1');
  });

  it('is refused for good where hosts are up and none has desktops, with what to do about it', async () => {
    await add({ host1: [8_192, false] });
    await expect(place()).rejects.toMatchObject({
      kind: 'unsupported',
      code: 'computers_unsupported',
      message: expect.stringContaining('berth computers setup') as string,
    });
  });

  it.each<readonly [string, Has]>([
    ['has no room', { host1: [1_024, true], host2: [8_192, false] }],
    ['responds', {}],
  ])('is refused for the moment if no host with desktops %s', async (_, has) => {
    await add(has);
    await expect(place()).rejects.toMatchObject({ kind: 'unavailable', code: 'no_capacity' });
  });

  it('is no unfinished creation of an agent', async () => {
    await add({ host1: [8_192, true] });
    const [computerId, agentId] = [newId('cmp'), newId('agt')];
    await place(computerId);
    const placement = new Placement(
      test.requester,
      test.database,
      test.store,
      new HostProbe(test.requester),
      new HostStreams(test.store),
    );
    await placement.place({ agentId, accountId: ACCOUNT, attempt: 0, memMb: 256, diskGb: 1 });
    await test.database.query('UPDATE agent_creations SET placed_at = now() - make_interval(secs => $1)', [
      UNREPORTED_SECONDS + 1,
    ]);
    expect(await placement.overdue(10)).toEqual([{ agentId, accountId: ACCOUNT }]);
    // The next placement forgets the computer.
    await place();
    const rows = await test.database.query<{ agent_id: string }>('SELECT agent_id FROM agent_creations');
    expect(rows.map(({ agent_id: id }) => id)).not.toContain(computerId);
  });
});
