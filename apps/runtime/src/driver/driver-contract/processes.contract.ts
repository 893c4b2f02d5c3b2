import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import { uptime, type DriverFixture } from './driver.fixture.js';

const MB = 1024 * 1024;
/** Both ends of an interval are read to 10 ms. */
const READING_ERROR = 0.02;

const between = (ticks: readonly number[], from: number, to: number): readonly number[] =>
  ticks.filter((tick) => tick > from + READING_ERROR && tick < to - READING_ERROR);

/** The guarantees of freezing, thawing and stopping. */
export const describeProcesses = (host: () => DriverFixture): void => {
  it('stops as a whole while frozen, and continues when thawed', async () => {
    const started = await host().start();
    const { agentId } = started.box;
    await started.tick();
    const { driver } = host();
    await driver.freeze(agentId);
    const frozenAt = uptime();
    expect(await driver.isFrozen(agentId)).toBe(true);
    await delay(300);
    const thawedAt = uptime();
    await driver.thaw(agentId);
    expect(await driver.isFrozen(agentId)).toBe(false);
    await eventually(async () => ((await started.ticks()).at(-1) ?? 0) > thawedAt);
    const ticks = await started.ticks();
    expect(ticks[0]).toBeLessThan(frozenAt);
    expect(between(ticks, frozenAt, thawedAt)).toEqual([]);
  });

  it('may be frozen twice and thawed twice', async () => {
    const started = await host().start();
    const { agentId } = started.box;
    const { driver } = host();
    await driver.freeze(agentId);
    await driver.freeze(agentId);
    expect(await driver.isFrozen(agentId)).toBe(true);
    await driver.thaw(agentId);
    await driver.thaw(agentId);
    expect(await started.sh('echo back')).toBe('back');
  });

  it('can be frozen at any time, although its processes start others without a pause', async () => {
    const started = await host().start();
    const { agentId } = started.box;
    for (let process = 0; process < 4; process++)
      await started.detach('while :; do cut -d" " -f1 /proc/uptime > /dev/null; done');
    for (let time = 0; time < 30; time++) {
      await host().driver.freeze(agentId);
      // While processes fork, the kernel may report for an instant that not all are frozen, although none runs.
      await eventually(() => host().driver.isFrozen(agentId), { timeoutMs: 1_000 });
      await host().driver.thaw(agentId);
    }
  });

  it('leaves other boxes running when it is frozen', async () => {
    const [one, other] = await Promise.all([host().start(), host().start()]);
    await host().driver.freeze(one.box.agentId);
    expect(await other.sh('echo running')).toBe('running');
    expect(await host().driver.isFrozen(other.box.agentId)).toBe(false);
  });

  it.each(['running', 'frozen'])('leaves no process behind when it is stopped while %s', async (state) => {
    const first = await host().start();
    const { agentId } = first.box;
    await first.tick();
    if (state === 'frozen') await host().driver.freeze(agentId);
    await host().driver.stop(agentId, 0);
    const stoppedAt = uptime();
    await first.box.gone;
    expect(await host().listed()).toEqual([]);
    const second = await host().start({ agentId, epoch: 2 });
    await second.sh('sleep 0.2');
    expect((await second.ticks()).filter((tick) => tick > stoppedAt + READING_ERROR)).toEqual([]);
  });

  it('lets its processes end by themselves before it kills them, if given time', async () => {
    const first = await host().start();
    const { agentId } = first.box;
    await first.detach(
      'trap "echo bye > $BERTH_VOLUME/bye; exit 0" TERM; : > $BERTH_VOLUME/up; while :; do sleep 0.02; done',
    );
    await eventually(async () => (await first.sh('ls $BERTH_VOLUME')).includes('up'));
    await host().driver.stop(agentId, 5_000);
    const second = await host().start({ agentId, epoch: 2 });
    expect(await second.sh('cat $BERTH_VOLUME/bye')).toBe('bye');
  });

  it('loses every process of an execution that times out, whatever it hides, and keeps all others', async () => {
    const started = await host().start();
    await started.sh('setsid sleep 1000 > /dev/null 2>&1 & echo $! > bystander');
    const hides = '(env -i PATH="$PATH" setsid sh -c "echo \\$\\$ > hidden; exec sleep 1000" &)';
    const report = await started.run(`echo $$ > shell; ${hides}; sleep 1000`, 1_000);
    expect(report.status).toBe('timed_out');
    const found = await started.sh(
      'for one in shell hidden bystander; do case $(cut -d" " -f3 /proc/$(cat $one)/stat 2>/dev/null) in [RSD]) echo $one;; esac; done; kill $(cat hidden)',
    );
    // Without groups, a process that has lost every trace of its execution lives on.
    const { limits } = host().driver.capabilities;
    expect(found).toBe(limits.includes('processes') ? 'bystander' : 'hidden\nbystander');
  });

  it('has room for processes again when an execution that forks without end has timed out', async () => {
    const limited = { memoryBytes: 256 * MB, cpus: 1, processes: 100, diskBytes: 256 * MB };
    const started = await host().start({ limits: limited });
    const { limits } = host().driver.capabilities;
    // Without a limit, processes that replace themselves as fast as they can. The shell ends when it cannot fork.
    const bomb = limits.includes('processes')
      ? 'b() { b | b & }; sleep 60 & b; wait'
      : 'b() { b & }; sleep 60 & b; b; b; b; wait';
    expect((await started.run(`trap "" TERM; ${bomb}`, 500)).status).toBe('timed_out');
    expect(await started.sh('for n in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; (echo $(echo room))')).toBe(
      'room',
    );
    await eventually(async () =>
      expect((await host().driver.stats(started.box.agentId))?.processes).toBeLessThan(40),
    );
  });

  it('is gone once its guest has exited, and stop ends what is left', async () => {
    const started = await host().start();
    const { agentId } = started.box;
    await started.tick();
    await started.client.shutDown(0);
    await started.box.gone;
    await host().driver.stop(agentId, 0);
    expect(await host().listed()).toEqual([]);
  });
};
