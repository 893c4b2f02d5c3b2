import { afterEach, describe, expect, it } from 'vitest';
import type { OperatorFile } from '@berth/operator-file';
import type { DriverFixture } from '../../driver-contract/driver.fixture.js';
import { HOST_ADDRESSES, RESOLVER, type OutsideNetwork } from '../__fixtures__/outside-network.fixture.js';
import { operatorFileWith } from '../__fixtures__/nerdctl-driver.fixture.js';
import { attemptFrom, tcp, type Target } from '../__fixtures__/network-probe.fixture.js';

/** What the operator decides about the network. `open` starts an installation with a file that may change. */
export const describeNetworkSettings = (
  outside: () => OutsideNetwork,
  open: (operator: { current: OperatorFile }) => Promise<DriverFixture>,
): void => {
  describe('the operator’s settings of the network', () => {
    let host: DriverFixture | undefined;

    afterEach(() => host?.destroy());

    const outcomes = async (network: string, targets: readonly Target[]): Promise<readonly string[]> => {
      host = await open({ current: operatorFileWith(network) });
      return (await attemptFrom(await host.start(), targets)).map(({ outcome }) => outcome);
    };

    it('open a private network for one port, and nothing of the host and of other agents', async () => {
      const allow =
        '["10.1.2.0/24:5432", "[fd00:1::/64]:80", "203.0.113.0/24", "192.168.0.0/16", "198.18.0.0/15"]';
      const targets = [
        tcp('10.1.2.3', 5432),
        tcp('fd00:1::7', 80),
        tcp('10.1.2.3', 80),
        tcp('10.1.3.3', 5432),
        tcp('fd00:2::7', 80),
        tcp(HOST_ADDRESSES.public4, 22),
        tcp(HOST_ADDRESSES.private4, 22),
        tcp('198.19.255.2', 80),
      ];
      expect(await outcomes(`{ allow: ${allow} }`, targets)).toEqual([
        'open',
        'open',
        ...Array.from({ length: 6 }, () => 'ECONNREFUSED'),
      ]);
    });

    it('name the resolvers that agents ask instead of Berth’s', async () => {
      outside().takeContacts();
      const targets = [tcp('a-198-51-100-7.test')];
      expect(await outcomes(`{ dns: ["${RESOLVER}"] }`, targets)).toEqual(['open']);
      const started = host === undefined ? undefined : await host.start();
      expect(await started?.sh('cat /etc/resolv.conf')).toBe(`nameserver ${RESOLVER}`);
    });

    it('give agents no network at all with mode none', async () => {
      const [first, second] = await outcomes('{ mode: none, allow: ["10.1.2.3"] }', [
        tcp('198.51.100.7'),
        tcp('10.1.2.3'),
      ]);
      expect([first, second]).toEqual(['ENETUNREACH', 'ENETUNREACH']);
      expect(host?.driver.capabilities.network).toEqual(['none']);
    });

    it('are in force for running agents with the next check after they changed, without counting as a repair', async () => {
      const operator = { current: operatorFileWith('{}') };
      host = await open(operator);
      const started = await host.start();
      const targets = [tcp('198.51.100.7'), tcp('10.1.2.3', 5432)];
      const now = async (): Promise<readonly string[]> =>
        (await attemptFrom(started, targets)).map(({ outcome }) => outcome);
      expect(await now()).toEqual(['open', 'ECONNREFUSED']);
      operator.current = operatorFileWith('{ allow: ["10.1.2.3:5432"] }');
      await host.start();
      expect(await now()).toEqual(['open', 'open']);
      operator.current = operatorFileWith('{ mode: none }');
      const ending = new AbortController();
      const kept = host.driver.keepUp(ending.signal);
      ending.abort();
      await kept;
      expect(await now()).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
    });
  });
};
