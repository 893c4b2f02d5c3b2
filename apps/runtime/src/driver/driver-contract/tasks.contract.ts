import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { widestNetwork } from '../requirements.plan.js';
import type { TaskEnd, TaskSpec } from '../task-spec.js';
import type { DriverFixture, OfferedEverywhere, StartedBox } from './driver.fixture.js';

const MB = 1024 * 1024;
const LIMITS = { memoryBytes: 256 * MB, cpus: 1, processes: 256, diskBytes: 256 * MB };

/** The guarantees of tasks. */
export const describeTasks = (host: () => DriverFixture, offers: OfferedEverywhere): void => {
  const version = () => {
    const ref = { agentId: newId('agt'), deploymentId: newId('dep') };
    const folder = host().driver.codeFolder(ref.agentId, ref.deploymentId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'given'), 'given', { mode: 0o600 });
    return { ...ref, folder };
  };

  const run = async (
    script: string,
    changes: Partial<TaskSpec> = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ readonly end: TaskEnd; readonly output: string }> => {
    const { deploymentId, folder } = version();
    const network = widestNetwork(host().driver.capabilities);
    const own = { taskId: deploymentId, folder, script, env: {} };
    const spec = { ...own, limits: LIMITS, network, runtimeClass: null, ...changes };
    let output = '';
    const end = await host().driver.runTask(spec, (chunk) => (output += chunk.toString('utf8')), signal);
    return { end, output };
  };

  /** A box with the code that a task has made. */
  const startMade = async (): Promise<StartedBox> => {
    const { agentId, deploymentId, folder } = version();
    const script = 'pwd > where; echo "echo ran" > tool; chmod 700 tool; mkdir -m 700 inside; cat given';
    expect(await run(script, { taskId: deploymentId, folder })).toMatchObject({ output: 'given' });
    return host().start({ agentId, source: { kind: 'build', version: 2, deploymentId, folder } });
  };

  if (!offers.tasks) {
    it('is refused by a driver that runs no tasks', async () => {
      await expect(run('true')).rejects.toMatchObject({ code: 'spec_unsupported' });
    });
    return;
  }

  describe('a task', () => {
    it('reports its output, both streams in one, and its exit code', async () => {
      expect(await run('echo out; echo err >&2; echo $WORD; exit 7', { env: { WORD: 'word' } })).toEqual({
        end: { how: 'exited', code: 7 },
        output: 'out\nerr\nword\n',
      });
    });

    it('makes code that a box finds at the same path, reads and runs', async () => {
      const started = await startMade();
      const { code } = started.box.inside;
      expect(await started.sh(`cat ${code}/where`)).toBe(code);
      expect(await started.sh(`${code}/tool; ls -d ${code}/inside`)).toContain(`${code}/inside`);
    });

    if (offers.isolation !== 'none') {
      it('makes code that a box cannot change', async () => {
        const started = await startMade();
        const { code } = started.box.inside;
        for (const change of [`echo x > ${code}/given`, `touch ${code}/inside/new`, `rm ${code}/tool`])
          expect((await started.run(change)).exitCode).not.toBe(0);
      });
    }

    it('leaves no process behind when it ends, not even one that left its session', async () => {
      const taskId = newId('dep');
      const { folder } = version();
      const { end } = await run('setsid sleep 600 & (sleep 601 &) ; echo done', { taskId, folder });
      expect(end).toEqual({ how: 'exited', code: 0 });
      expect((await host().driver.list()).map(({ agentId }) => agentId)).not.toContain(taskId);
    });

    it('ends with its processes when it is aborted', async () => {
      const taskId = newId('dep');
      const { folder } = version();
      const abort = new AbortController();
      const running = run('setsid sleep 602 & trap "" TERM; sleep 603', { taskId, folder }, abort.signal);
      const listed = async (): Promise<readonly string[]> =>
        (await host().driver.list()).map(({ agentId }) => agentId);
      await eventually(async () => expect(await listed()).toContain(taskId));
      abort.abort();
      expect((await running).end).toEqual({ how: 'aborted' });
      expect(await listed()).not.toContain(taskId);
    });

    it('ends when it stores more than it may', async () => {
      const limits = { ...LIMITS, diskBytes: 4 * MB };
      const { end } = await run('head -c 9000000 /dev/zero > big; sleep 60', { limits });
      expect(end).toEqual({ how: 'disk_full' });
    });
  });
};
