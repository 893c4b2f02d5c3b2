import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import type { BoxStats } from '../driver.js';
import type { DriverFixture, StartedBox } from './driver.fixture.js';

const MB = 1024 * 1024;

/** The guarantees of statistics, and of the limits that a driver enforces. */
export const describeLimits = (host: () => DriverFixture): void => {
  const stats = async ({ box }: StartedBox): Promise<BoxStats> => {
    const found = await host().driver.stats(box.agentId);
    if (found === null) throw new Error('The box has no statistics.');
    return found;
  };

  it('is measured: memory, processor time and processes', async () => {
    const started = await host().start();
    const before = await stats(started);
    expect(before.memoryBytes).toBeGreaterThan(10 * MB);
    await started.detach(`x=$(head -c ${50 * MB} /dev/zero | tr "\\\\0" x); while :; do :; done`);
    await eventually(async () => {
      const now = await stats(started);
      expect(now.memoryBytes).toBeGreaterThan((before.memoryBytes ?? 0) + 40 * MB);
      expect(now.cpuSeconds).toBeGreaterThan((before.cpuSeconds ?? 0) + 0.2);
      expect(now.processes).toBeGreaterThan(before.processes);
    });
  });

  it('is measured while frozen, and uses no processor time then', async () => {
    const started = await host().start();
    await started.detach('while :; do :; done');
    await host().driver.freeze(started.box.agentId);
    const first = await stats(started);
    await eventually(async () => {
      const busy = process.cpuUsage();
      while (process.cpuUsage(busy).user < 50_000);
      expect(first.memoryBytes).toBeGreaterThan(0);
    });
    expect((await stats(started)).cpuSeconds).toBeCloseTo(first.cpuSeconds ?? -1, 2);
  });

  it('loses the processes that exceed its memory and counts them, without harm to its guest or another box', async () => {
    const { limits } = host().driver.capabilities;
    const [greedy, other] = await Promise.all([
      host().start({ limits: { memoryBytes: 64 * MB, cpus: 1, processes: 256, diskBytes: 256 * MB } }),
      host().start(),
    ]);
    const bomb = 'head -c 400000000 /dev/zero | tail -c 400000000 | wc -c';
    const read = await greedy.sh(bomb);
    expect(read).toBe(limits.includes('memoryBytes') ? '0' : '400000000');
    if (limits.includes('memoryBytes')) expect((await stats(greedy)).oomKills).toBeGreaterThan(0);
    expect(await greedy.sh('echo alive')).toBe('alive');
    expect(await other.sh('echo alive')).toBe('alive');
    expect((await stats(other)).oomKills ?? 0).toBe(0);
  });

  it('has at most as many processes as its limit allows, and another box still starts new ones', async () => {
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
};
