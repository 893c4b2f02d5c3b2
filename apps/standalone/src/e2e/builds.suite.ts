import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { repository, slowly, type DeployTarget } from './deploy.fixture.js';
import { processesOf } from './processes.fixture.js';

/** When builds end, and with them all their processes. */
export const describeBuilds = (target: DeployTarget): void => {
  describe('a build', () => {
    it('leaves no process behind', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('forks', {
        ...repository('forked'),
        'berth.json': JSON.stringify({
          // One in a session of its own, and two whose parent has ended.
          build: 'setsid sleep 995 & (sleep 999 & sleep 998 &) & echo built',
          start: 'exec node main.mjs',
        }),
      });
      expect(await target.ended(id, (await target.deploy(id, 'forks')).body.deploymentId)).toMatchObject({
        error: null,
      });
      expect(processesOf(target.dataDir).filter(({ command }) => /sleep 99/.test(command))).toEqual([]);
    });

    it('that waits is superseded by a newer deployment', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('slow', slowly('slow'));
      await target.git.commit('quick', repository('quick'));
      const first = (await target.deploy(id, 'slow')).body.deploymentId;
      await target.inStatus(id, first, 'building');
      const second = (await target.deploy(id, 'slow')).body.deploymentId;
      const third = (await target.deploy(id, 'quick')).body.deploymentId;
      expect(await target.ended(id, second)).toMatchObject({ error: { code: 'superseded' } });
      await target.openGate();
      expect(await target.ended(id, first)).toMatchObject({ status: 'succeeded' });
      expect(await target.ended(id, third)).toMatchObject({ status: 'succeeded' });
      expect((await target.api.chat(id, 'hello')).body.response).toBe('quick blue');
    });

    it('ends when its agent is deleted', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('endless', {
        'berth.json': JSON.stringify({ build: 'sleep 997', start: 'x' }),
      });
      const { deploymentId } = (await target.deploy(id, 'endless')).body;
      await target.inStatus(id, deploymentId, 'building');
      await eventually(() => target.running('sleep 997').length > 0, { timeoutMs: 20_000 });
      expect((await target.api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
      expect((await target.api.get(`/api/agents/${id}/deployments/${deploymentId}`)).status).toBe(404);
      await eventually(() => target.running('sleep 997').length === 0, { timeoutMs: 20_000 });
    });

    it('that is running when Berth is killed fails as interrupted, and its processes end', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('killed', { 'berth.json': JSON.stringify({ build: 'sleep 996', start: 'x' }) });
      const { deploymentId } = (await target.deploy(id, 'killed')).body;
      await target.inStatus(id, deploymentId, 'building');
      await eventually(() => target.running('sleep 996').length > 0, { timeoutMs: 20_000 });
      await target.stack.program.end('SIGKILL');
      await target.restart();
      expect(await target.ended(id, deploymentId)).toMatchObject({
        status: 'failed',
        error: { code: 'interrupted' },
      });
      expect(target.running('sleep 996')).toEqual([]);
    });
  });
};
