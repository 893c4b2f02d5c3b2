import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { eventually } from '@berth/testing';
import { metrics } from '@berth/telemetry';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DriverFixture, type StartedBox } from '../../driver-contract/driver.fixture.js';
import type { OutsideNetwork } from '../__fixtures__/outside-network.fixture.js';
import { attemptFrom, tcp } from '../__fixtures__/network-probe.fixture.js';
import { instanceOf } from '@berth/host-requirements';

const PUBLIC = tcp('198.51.100.7');
const PRIVATE = tcp('192.168.77.1');

const outcomesOf = async (started: StartedBox): Promise<readonly string[]> =>
  (await attemptFrom(started, [PUBLIC, tcp('a-198-51-100-8.test'), PRIVATE])).map(({ outcome }) => outcome);

const AS_DECIDED = ['open', 'open', 'ECONNREFUSED'];

const nft = (...args: readonly string[]): string => execFileSync('nft', args, { encoding: 'utf8' });

/** Names of tables and interfaces of that installation on the host. */
const tracesOf = (instance: string): readonly string[] => {
  const all = `${nft('list', 'tables')}${readFileSync('/proc/self/net/dev', 'utf8')}`;
  return all
    .split('\n')
    .filter((line) => line.includes(instance) || line.includes(`b${instance.slice(0, 7)}`))
    .map((line) => line.trim().split(':')[0] ?? '');
};

/** When the network is created, kept and removed. `open` starts another installation. */
export const describeNetworkLifecycle = (
  outside: () => OutsideNetwork,
  open: () => Promise<DriverFixture>,
): void => {
  describe('the network of an installation', () => {
    let host: DriverFixture;
    let instance: string;
    let keeping: AbortController;

    beforeAll(async () => {
      host = await open();
      instance = await instanceOf(host.dataDir);
    });

    afterEach(() => {
      keeping?.abort();
      vi.restoreAllMocks();
    });

    afterAll(() => host.destroy());

    it('is closed to an agent from its first instruction on, also if the firewall was flushed before', async () => {
      nft('flush', 'ruleset');
      outside().takeContacts();
      const started = await host.start();
      expect(await outcomesOf(started)).toEqual(AS_DECIDED);
      expect(outside().takeContacts()).not.toContain('tcp 192.168.77.1 80');
    });

    it.each([
      ['flushed', () => nft('flush', 'ruleset')],
      [
        'opened by an added rule',
        (table: string) => nft('insert', 'rule', 'inet', table, 'outward', 'accept'),
      ],
    ])(
      'is repaired by the regular check when its policy was %s, and the repair is counted',
      async (_, spoil) => {
        const started = await host.start();
        const repairs = vi.spyOn(metrics.counter('berth_network_policy_repairs', ''), 'inc');
        spoil(`berth-${instance}`);
        expect((await attemptFrom(started, [PRIVATE]))[0]?.outcome).not.toBe('ECONNREFUSED');
        keeping = new AbortController();
        const kept = host.driver.keepUp(keeping.signal);
        await eventually(async () => expect(await outcomesOf(started)).toEqual(AS_DECIDED));
        expect(repairs).toHaveBeenCalledTimes(1);
        keeping.abort();
        await kept;
      },
    );

    it('stays up for an agent while the runtime is down, and the next runtime keeps it unchanged', async () => {
      const started = await host.start();
      const address = await started.sh('node -p "require(\'os\').networkInterfaces().eth0[0].address"');
      await host.driver.close();
      expect((await attemptFrom(started, [PUBLIC, PRIVATE])).map(({ outcome }) => outcome)).toEqual([
        'open',
        'ECONNREFUSED',
      ]);
      await host.reopen();
      expect(await outcomesOf(started)).toEqual(AS_DECIDED);
      const next = await host.start();
      expect(await next.sh('node -p "require(\'os\').networkInterfaces().eth0[0].address"')).not.toBe(
        address,
      );
      await host.driver.stop(started.box.agentId, 0);
    });

    it('is made again by the next runtime after it was removed by hand', async () => {
      const started = await host.start();
      nft('delete', 'table', 'inet', `berth-${instance}`);
      execFileSync('ip', ['link', 'del', `b${instance.slice(0, 7)}net`]);
      await host.reopen();
      expect(await outcomesOf(started)).toEqual(AS_DECIDED);
    });

    it('releases the interface of an agent that stops', async () => {
      const before = tracesOf(instance).length;
      const started = await host.start();
      expect(tracesOf(instance)).toHaveLength(before + 1);
      await host.driver.stop(started.box.agentId, 0);
      await eventually(() => expect(tracesOf(instance)).toHaveLength(before));
    });

    it('goes with the runtime even if a process of the host still has the network of an ended agent open', async () => {
      const other = await open();
      const { box } = await other.start();
      const { guest } = box.record as { readonly guest: { readonly pid: number } };
      const held = openSync(`/proc/${String(guest.pid)}/ns/net`, 'r');
      const traces = await instanceOf(other.dataDir);
      await other.driver.stop(box.agentId, 0);
      expect(tracesOf(traces)).toHaveLength(3);
      await other.driver.close();
      expect(tracesOf(traces)).toEqual([]);
      closeSync(held);
      await other.reopen();
      await other.destroy();
    });

    it('is apart from that of another installation, and goes with its own agents only', async () => {
      const other = await open();
      const otherInstance = await instanceOf(other.dataDir);
      const [one, two] = [await host.start(), await other.start()];
      expect(await outcomesOf(two)).toEqual(AS_DECIDED);
      const address = await two.sh('node -p "require(\'os\').networkInterfaces().eth0[0].address"');
      await two.detach('while :; do echo hello | nc -l -p 7000; done');
      expect((await attemptFrom(one, [tcp(address, 7000)]))[0]?.outcome).toBe('ECONNREFUSED');
      const left = tracesOf(instance);
      await other.destroy();
      expect(tracesOf(otherInstance)).toEqual([]);
      expect(tracesOf(instance)).toEqual(left);
      expect(await outcomesOf(one)).toEqual(AS_DECIDED);
    });
  });
};
