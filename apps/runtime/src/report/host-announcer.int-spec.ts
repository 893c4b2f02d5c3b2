import type { AnnounceHost, HostOrders } from '@berth/contracts/agents';
import type { Requester } from '@berth/messaging';
import { afterEach, describe, expect, it } from 'vitest';
import { HostFixture, quietLog } from '../__fixtures__/host.fixture.js';
import { HostAnnouncer } from './host-announcer.js';
import { HostLog } from './host-log.js';

describe('a host that announces itself', () => {
  let host: HostFixture;

  afterEach(() => host.destroy());

  it('does not end an agent that was started again while the response was on its way', async () => {
    host = await HostFixture.open();
    const recipe = HostFixture.recipe();
    const { agentId } = recipe;
    await host.agents.start(recipe);
    const driver = { freeMemMb: (): number => 512 };
    const respond = async (_: unknown, { agents, freeMemMb }: AnnounceHost): Promise<unknown> => {
      expect(freeMemMb).toBe(512);
      expect(agents).toEqual([{ agentId, epoch: 1, state: 'running' }]);
      await host.agents.start({ ...recipe, epoch: 2 });
      return { remove: [], stop: [agentId], logId: 'log_1' };
    };
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    await new HostAnnouncer(
      { id: 'hst_1' },
      host.agents,
      driver,
      requester,
      await HostLog.open(host.dataDir),
      quietLog,
    ).announce();
    expect(host.agents.observed).toEqual([{ agentId, epoch: 2, state: 'running' }]);
    expect(await host.deliver(agentId, 2, 'still here')).toBe('echo: still here');
  });

  it('names the event log of its first announcement from then on, also after a restart', async () => {
    host = await HostFixture.open();
    const named: (string | null)[] = [];
    const respond = (_: unknown, { logId }: AnnounceHost): Promise<HostOrders> => {
      named.push(logId);
      return Promise.resolve({ remove: [], stop: [], logId: 'log_1' });
    };
    const requester = { request: respond } as unknown as Pick<Requester, 'request'>;
    const driver = { freeMemMb: (): number => 512 };
    for (let start = 0; start < 2; start++) {
      const hostLog = await HostLog.open(host.dataDir);
      await new HostAnnouncer({ id: 'hst_1' }, host.agents, driver, requester, hostLog, quietLog).announce();
    }
    expect(named).toEqual([null, 'log_1']);
  });
});
