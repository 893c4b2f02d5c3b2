import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoxSource } from '../box-spec.js';
import { DriverFixture, type StartedBox } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

const MB = 1024 * 1024;
const DISK_BYTES = 64 * MB;
const limits = { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: DISK_BYTES };

describe('a writable root file system', () => {
  let host: DriverFixture;

  beforeAll(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
  });

  afterAll(() => host.destroy());

  const start = (changes: Parameters<DriverFixture['start']>[0] = {}): Promise<StartedBox> =>
    host.start({ user: 'root', rootFileSystem: 'writable', limits, ...changes });

  const versionOf = (version: number): BoxSource => ({ ...nerdctlDriverUnderTest.source, version });

  it('keeps what is written, created, changed and deleted while the agent sleeps', async () => {
    const first = await start();
    await first.sh(
      'echo mine > /etc/mine; echo more >> /etc/passwd; rm /bin/nc; mkdir -p /opt/a && touch /opt/a/b',
    );
    expect(await first.sh('cat /etc/mine')).toBe('mine');
    const { agentId } = first.box;
    await host.driver.stop(agentId, 0);
    await host.reopen();
    const second = await start({ agentId, epoch: 2 });
    expect(
      await second.sh('cat /etc/mine; tail -n 1 /etc/passwd; ls /opt/a; test -e /bin/nc || echo gone'),
    ).toBe('mine\nmore\nb\ngone');
  });

  it('is discarded with the next version, and with a read-only one', async () => {
    const first = await start({ source: versionOf(1) });
    const { agentId } = first.box;
    await first.sh('echo old > /etc/mine; echo kept > /workspace/kept');
    await host.driver.stop(agentId, 0);
    const second = await start({ agentId, epoch: 2, source: versionOf(2) });
    expect(await second.sh('cat /workspace/kept; test -e /etc/mine || echo gone')).toBe('kept\ngone');
    await second.sh('echo new > /etc/mine');
    await start({ agentId, epoch: 3, source: versionOf(2), rootFileSystem: 'read-only' });
    const last = await start({ agentId, epoch: 4, source: versionOf(2) });
    expect(await last.sh('test -e /etc/mine || echo gone')).toBe('gone');
  });

  it('ends where the agent’s disk ends, counts in its figures, and affects no other agent', async () => {
    const [greedy, other] = [await start(), await start()];
    const { agentId } = greedy.box;
    const filled = await greedy.run('dd if=/dev/zero of=/opt-fill bs=1M count=100');
    expect([filled.exitCode, filled.stderr]).toEqual([1, expect.stringMatching(/No space left/)]);
    expect(await host.driver.volumeBytes(agentId)).toBeGreaterThan(DISK_BYTES / 2);
    expect(await host.driver.volumeBytes(agentId)).toBeLessThanOrEqual(DISK_BYTES);
    expect(await other.sh('dd if=/dev/zero of=/fill bs=1M count=10 2>/dev/null && echo unharmed')).toBe(
      'unharmed',
    );
    await greedy.sh('rm /opt-fill');
    expect(await greedy.sh('echo x > /again && cat /again')).toBe('x');
  });

  it('goes with the agent', async () => {
    const { box } = await start();
    await host.driver.remove(box.agentId);
    expect(await host.driver.volumeBytes(box.agentId)).toBe(0);
  });
});
