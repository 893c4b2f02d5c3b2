import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import type { BoxSpec } from '../box-spec.js';
import type { BoxStats } from '../driver.js';
import type { DriverFixture, OfferedEverywhere, StartedBox } from './driver.fixture.js';

const MB = 1024 * 1024;

/** The guarantees of a box's statistics, and of the limits that the driver under test enforces. */
export const describeLimits = (host: () => DriverFixture, { limitsDisk }: OfferedEverywhere): void => {
  const stats = async ({ box }: StartedBox): Promise<BoxStats> => {
    const found = await host().driver.stats(box.agentId);
    if (found === null) throw new Error('The box has no statistics.');
    return found;
  };

  it('reports its memory, processor time and processes', async () => {
    const started = await host().start();
    const before = await stats(started);
    expect(before.memoryBytes).toBeGreaterThanOrEqual(host().underTest.guestMemoryBytes);
    await started.detach(`x=$(head -c ${50 * MB} /dev/zero | tr "\\\\0" x); while :; do :; done`);
    await eventually(async () => {
      const now = await stats(started);
      expect(now.memoryBytes).toBeGreaterThan((before.memoryBytes ?? 0) + 40 * MB);
      expect(now.cpuSeconds).toBeGreaterThan((before.cpuSeconds ?? 0) + 0.2);
      expect(now.processes).toBeGreaterThan(before.processes);
    });
  });

  it('reports its memory while frozen, and uses no processor time', async () => {
    const started = await host().start();
    await started.detach('while :; do :; done');
    await host().driver.freeze(started.box.agentId);
    const first = await stats(started);
    expect(first.memoryBytes).toBeGreaterThan(0);
    // 50 ms of work here: time in which a box that was not frozen would have worked too.
    const busy = process.cpuUsage();
    while (process.cpuUsage(busy).user < 50_000);
    expect((await stats(started)).cpuSeconds).toBeCloseTo(first.cpuSeconds ?? -1, 2);
  });

  it('loses only the processes that exceed its memory, and counts them; its guest and other boxes continue', async () => {
    const { limits } = host().driver.capabilities;
    const [greedy, other] = await Promise.all([
      host().start({ limits: { memoryBytes: 64 * MB, cpus: 1, processes: 256, diskBytes: 256 * MB } }),
      host().start(),
    ]);
    const allocate400MB = 'head -c 400000000 /dev/zero | tail -c 400000000 | wc -c';
    const counted = await greedy.sh(allocate400MB);
    expect(counted).toBe(limits.includes('memoryBytes') ? '0' : '400000000');
    if (limits.includes('memoryBytes')) expect((await stats(greedy)).oomKills).toBeGreaterThan(0);
    expect(await greedy.sh('echo alive')).toBe('alive');
    expect(await other.sh('echo alive')).toBe('alive');
    expect((await stats(other)).oomKills ?? 0).toBe(0);
  });

  it('has at most as many processes as its limit allows, while other boxes can start processes', async () => {
    const { limits } = host().driver.capabilities;
    const [greedy, other] = await Promise.all([
      host().start({ limits: { memoryBytes: 256 * MB, cpus: 1, processes: 60, diskBytes: 256 * MB } }),
      host().start(),
    ]);
    await greedy.detach('i=0; while [ $i -lt 150 ]; do sleep 20 & i=$((i+1)); done; wait');
    const most = limits.includes('processes') ? 60 : Number.POSITIVE_INFINITY;
    await eventually(async () => {
      expect((await stats(greedy)).processes).toBeGreaterThan(50);
    });
    expect((await stats(greedy)).processes).toBeLessThanOrEqual(most);
    expect(await other.sh('sh -c "echo started"')).toBe('started');
  });

  if (limitsDisk) describeDiskLimit(host);
};

const describeDiskLimit = (host: () => DriverFixture): void => {
  it('cannot write more than its volume holds until it deletes something, while other boxes can write', async () => {
    const small = { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: 32 * MB };
    const [greedy, other] = await Promise.all([host().start({ limits: small }), host().start()]);
    const full = await greedy.run('head -c 40000000 /dev/zero > $BERTH_VOLUME/big');
    expect(full.exitCode).not.toBe(0);
    expect(Number(await greedy.sh('wc -c < $BERTH_VOLUME/big'))).toBeLessThan(small.diskBytes);
    expect(await other.sh('echo written > $BERTH_VOLUME/f; cat $BERTH_VOLUME/f')).toBe('written');
    await greedy.sh('rm $BERTH_VOLUME/big');
    expect(await greedy.sh('echo again > $BERTH_VOLUME/f; cat $BERTH_VOLUME/f')).toBe('again');
  });

  it('has a larger volume after a start with a larger limit, and keeps it after a start with a smaller one', async () => {
    const sized = (megabytes: number): Pick<BoxSpec, 'limits'> => ({
      limits: { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: megabytes * MB },
    });
    const first = await host().start(sized(32));
    const { agentId } = first.box;
    await first.sh('echo kept > $BERTH_VOLUME/kept');
    const second = await host().start({ agentId, epoch: 2, ...sized(64) });
    expect(await second.sh('head -c 40000000 /dev/zero > $BERTH_VOLUME/big && cat $BERTH_VOLUME/kept')).toBe(
      'kept',
    );
    const third = await host().start({ agentId, epoch: 3, ...sized(32) });
    expect(await third.sh('wc -c < $BERTH_VOLUME/big')).toBe('40000000');
  });
};
