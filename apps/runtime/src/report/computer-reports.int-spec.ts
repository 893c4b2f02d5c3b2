import type { AnnounceHost, HostOrders, ReportActivity, ReportObservation } from '@berth/contracts/hosting';
import { computersRequests } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { HandleRequest, startService, type RunningService } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { Controller, Module } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { quietLog } from '../__fixtures__/host.fixture.js';
import { received, RuntimeFixture } from '../__fixtures__/runtime.fixture.js';

/** What `computers` gets. */
const reports = {
  announcements: [] as AnnounceHost[],
  observations: [] as ReportObservation[],
  activities: [] as ReportActivity['items'][number][],
  orders: { remove: [] as string[], stop: [] as string[] },
};

/** Fakes the service `computers`. */
@Controller()
class Computers {
  @HandleRequest(computersRequests.announceHost)
  async announce(request: AnnounceHost): Promise<HostOrders> {
    reports.announcements.push(request);
    return { ...reports.orders, logId: 'log_1' };
  }

  @HandleRequest(computersRequests.reportObservation)
  async observe(request: ReportObservation): Promise<Record<string, never>> {
    reports.observations.push(request);
    return {};
  }

  @HandleRequest(computersRequests.reportActivity)
  async activity(request: ReportActivity): Promise<Record<string, never>> {
    reports.activities.push(...request.items);
    return {};
  }
}

@Module({ controllers: [Computers] })
class ComputersModule {}

describe('a host with agents and computers', () => {
  let runtime: RuntimeFixture;
  let computers: RunningService | undefined;
  beforeAll(async () => {
    runtime = await RuntimeFixture.open();
  });
  beforeEach(async () => {
    Object.assign(reports, {
      announcements: [],
      observations: [],
      activities: [],
      orders: { remove: [], stop: [] },
    });
    await runtime.begin();
  });
  afterEach(async () => {
    await runtime.finish();
    await computers?.stop();
    computers = undefined;
  });
  afterAll(() => runtime.close());

  const serveComputers = async (): Promise<void> => {
    computers = await startService({
      name: 'computers',
      module: ComputersModule,
      link: runtime.link,
      log: quietLog,
    });
  };

  const startBoth = async (idleTtlSeconds: number): Promise<{ agent: string; computer: string }> => ({
    agent: await runtime.start({ idleTtlSeconds }),
    computer: await runtime.startComputer({ idleTtlSeconds }),
  });

  const idsIn = ({ agents }: AnnounceHost): readonly string[] => agents.map(({ agentId }) => agentId);

  it('tells each service about its own, in announcements and reports', async () => {
    await serveComputers();
    const { agent, computer } = await startBoth(1);
    await eventually(() => received.observations.length > 0 && reports.observations.length > 0);
    await eventually(() => received.activities.length > 0 && reports.activities.length > 0);
    for (const [one, id] of [
      [received, agent],
      [reports, computer],
    ] as const) {
      expect(one.observations).toEqual([
        {
          host: runtime.host,
          agentId: id,
          epoch: 1,
          observation: { type: 'asleep', depth: 'warm', reason: 'idle' },
        },
      ]);
      expect(new Set(one.activities.map(({ agentId }) => agentId))).toEqual(new Set([id]));
    }
    // At its next start it announces what it finds again.
    await runtime.end('SIGKILL');
    await runtime.launch();
    await eventually(() => reports.announcements.some((one) => one.agents.length > 0));
    expect(idsIn(received.announcements.at(-1) as AnnounceHost)).toEqual([agent]);
    expect(idsIn(reports.announcements.at(-1) as AnnounceHost)).toEqual([computer]);
    expect(reports.announcements.at(-1)).toMatchObject({ host: runtime.host, figures: { desktops: true } });
  });

  it('reports at its end to each service which of its own have ended', async () => {
    await serveComputers();
    const { agent, computer } = await startBoth(0);
    await runtime.end('SIGTERM');
    const ended = { type: 'asleep', depth: 'cold', reason: 'host_shutdown' };
    expect(received.observations).toMatchObject([{ agentId: agent, observation: ended }]);
    expect(reports.observations).toMatchObject([{ agentId: computer, observation: ended }]);
  });

  it('carries out the orders of the service that computers belong to', async () => {
    await serveComputers();
    const { agent, computer } = await startBoth(0);
    reports.orders = { remove: [computer], stop: [] };
    await runtime.end('SIGKILL');
    await runtime.launch();
    await eventually(async () => (await runtime.has(computer)) === false);
    expect(await runtime.has(agent)).toBe(true);
  });

  it('announces agents as ever in an installation that has no service for computers, and tells it once it has', async () => {
    const { agent, computer } = await startBoth(0);
    const before = received.announcements.length;
    // The broker's restart makes it announce itself at once.
    runtime.infra.part('nats').kill();
    await eventually(() => received.announcements.length > before, { timeoutMs: 20_000 });
    expect(idsIn(received.announcements.at(-1) as AnnounceHost)).toEqual([agent]);
    await serveComputers();
    await eventually(() => reports.announcements.length > 0, { timeoutMs: 20_000 });
    expect(idsIn(reports.announcements.at(-1) as AnnounceHost)).toEqual([computer]);
  });

  it('gives the log of a computer, and what it uses', async () => {
    const { computer: agentId } = await startBoth(0);
    const query = { agentId, limit: 100, level: null, since: null, source: null, cursor: null, waitMs: 0 };
    const { logs } = await runtime.requester.request(runtimeRequests.logs, query, { host: runtime.host });
    expect(logs.map(({ message }) => message)).toContain('Started.');
    const usage = await runtime.requester.request(runtimeRequests.usage, { agentId }, { host: runtime.host });
    expect(usage.processes).toBeGreaterThan(0);
  });
});
