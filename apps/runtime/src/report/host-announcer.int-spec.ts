import type { AnnounceHost, HostFigures, HostOrders } from '@berth/contracts/hosting';
import type { Requester } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostFixture, quietLog } from '../__fixtures__/host.fixture.js';
import type { HostedAgents } from '../agent/hosted-agents.js';
import { HostAnnouncer } from './host-announcer.js';
import { HostLog } from './host-log.js';

const figures = {
  read: (): Promise<HostFigures> =>
    Promise.resolve({
      name: 'one',
      driver: 'process',
      version: '1.0.0',
      memMb: { total: 1_024, free: 512 },
      diskGb: { total: 2, free: 1 },
      limitsDisk: false,
      runtimeClasses: [],
    }),
};

describe('a host that announces itself', () => {
  let host: HostFixture;

  afterEach(() => host.destroy());

  it('does not end an agent that was started again while the response was on its way', async () => {
    host = await HostFixture.open();
    const recipe = HostFixture.recipe();
    const { agentId } = recipe;
    await host.agents.start(recipe);
    const respond = async (_: unknown, { agents, freeMemMb }: AnnounceHost): Promise<unknown> => {
      expect(freeMemMb).toBe(512);
      expect(agents).toEqual([{ agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 }]);
      await host.agents.start({ ...recipe, epoch: 2 });
      return { remove: [], stop: [agentId], logId: 'log_1' };
    };
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    await new HostAnnouncer(
      { id: 'hst_1' },
      host.agents,
      figures,
      requester,
      await HostLog.open(host.dataDir),
      quietLog,
    ).announce('agents');
    expect(host.agents.observed).toEqual([{ agentId, epoch: 2, state: 'running', idleTtlSeconds: 0 }]);
    expect(await host.deliver(agentId, 2, 'still here')).toBe('echo: still here');
  });

  it('sends the idle time of its agents, and adopts the idle time in the response if the epoch matches', async () => {
    host = await HostFixture.open();
    const recipe = HostFixture.recipe({ idleTtlSeconds: 900 });
    const { agentId } = recipe;
    await host.agents.start(recipe);
    const announced: AnnounceHost[] = [];
    const idleTimes = [{ agentId, epoch: 1, idleTtlSeconds: 300 }];
    const respond = (_: unknown, announcement: AnnounceHost): Promise<HostOrders> => {
      announced.push(announcement);
      return Promise.resolve({ remove: [], stop: [], idleTimes, logId: 'log_1' });
    };
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    const hostLog = await HostLog.open(host.dataDir);
    await new HostAnnouncer({ id: 'hst_1' }, host.agents, figures, requester, hostLog, quietLog).announce(
      'agents',
    );
    expect(announced).toMatchObject([{ agents: [{ agentId, idleTtlSeconds: 900 }] }]);
    await eventually(() => host.agents.observed[0]?.idleTtlSeconds === 300);
  });

  it('names the event log of its first announcement from then on, also after a restart', async () => {
    host = await HostFixture.open();
    const named: (string | null)[] = [];
    const respond = (_: unknown, { logId }: AnnounceHost): Promise<HostOrders> => {
      named.push(logId);
      return Promise.resolve({ remove: [], stop: [], logId: 'log_1' });
    };
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    for (let start = 0; start < 2; start++) {
      const hostLog = await HostLog.open(host.dataDir);
      await new HostAnnouncer({ id: 'hst_1' }, host.agents, figures, requester, hostLog, quietLog).announce(
        'agents',
      );
    }
    expect(named).toEqual([null, 'log_1']);
  });

  it('announces itself to all services at once, also the first time', async () => {
    host = await HostFixture.open();
    const respond = (): Promise<HostOrders> => Promise.resolve({ remove: [], stop: [], logId: 'log_1' });
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    const hostLog = await HostLog.open(host.dataDir);
    const announcer = new HostAnnouncer({ id: 'hst_1' }, host.agents, figures, requester, hostLog, quietLog);
    await Promise.all([announcer.announce('agents'), announcer.announce('computers')]);
    expect((await HostLog.open(host.dataDir)).id).toBe('log_1');
  });

  it('does not wait for agents that take long to end, or it would count as lost, and gives no order twice', async () => {
    host = await HostFixture.open();
    const removed = Promise.withResolvers<void>();
    const ordered: string[] = [];
    const slow = {
      observed: [],
      remove: (agentId: string): Promise<void> => {
        ordered.push(agentId);
        return removed.promise;
      },
    } as unknown as HostedAgents;
    const orders: HostOrders = { remove: ['agt_1'], stop: [], logId: 'log_1' };
    const requester = { request: () => Promise.resolve(orders) } as unknown as Pick<Requester, 'request'>;
    const hostLog = await HostLog.open(host.dataDir);
    const announcer = new HostAnnouncer({ id: 'hst_1' }, slow, figures, requester, hostLog, quietLog);
    await announcer.announce('agents');
    await announcer.announce('agents');
    expect(ordered).toEqual(['agt_1']);
    removed.resolve();
    await eventually(async () => {
      await announcer.announce('agents');
      expect(ordered.length).toBeGreaterThan(1);
    });
  });
});
