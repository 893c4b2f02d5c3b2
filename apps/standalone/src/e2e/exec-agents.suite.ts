import { eventually } from '@berth/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import type { Stack } from './stack.fixture.js';

/** How commands affect the life cycle of an agent and vice versa, and agents with the older guest. */
export const describeExecAndAgents = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('an agent', () => {
    let own: Executions;
    beforeAll(async () => {
      own = new Executions(api, (await api.runningAgent({ templateId: 'blank' })).id);
    }, 60_000);
    beforeEach(async () => {
      expect((await api.post(`/api/agents/${own.agentId}/start`)).status).toBe(200);
    });

    it('is woken by a submission, but not by reading a result', async () => {
      const { body } = await own.run('echo kept');
      await api.post(`/api/agents/${own.agentId}/sleep`);
      expect((await own.get(body.executionId)).body.stdout).toBe('kept\n');
      expect((await own.cancel(body.executionId)).body.stdout).toBe('kept\n');
      await api.get(own.path);
      expect((await api.get(`/api/agents/${own.agentId}`)).body['state']).toBe('sleeping');
      expect((await own.run('echo awake')).body.stdout).toBe('awake\n');
      expect((await api.get(`/api/agents/${own.agentId}`)).body['state']).toBe('running');
    });

    it.each(['sleep', 'stop', 'restart'])(
      '%s ends running executions as failed, with their output so far',
      async (verb) => {
        const attached = own.run('echo attached; sleep 100');
        const id = await own.begin('echo partial; sleep 100');
        await eventually(async () => {
          const { body } = await api.get<{ items: unknown[] }>(`${own.path}?status=running`);
          expect(body.items).toHaveLength(2);
        });
        const { status } = await api.post(`/api/agents/${own.agentId}/${verb}`);
        expect(status).toBe(200);
        expect(await own.ended(id)).toMatchObject({ status: 'failed', exitCode: -1, stdout: 'partial\n' });
        const response = await attached;
        expect([response.status, response.body]).toMatchObject([
          200,
          { status: 'failed', exitCode: -1, stdout: 'attached\n' },
        ]);
      },
    );

    it('that is stopped returns exactly the specified 503 and starts nothing', async () => {
      await api.post(`/api/agents/${own.agentId}/stop`);
      const { status, body } = await own.run('echo x > started');
      expect([status, body]).toEqual([
        503,
        { detail: { code: 'guest_command_unavailable', execution_started: false } },
      ]);
      await api.post(`/api/agents/${own.agentId}/start`);
      expect((await own.run('ls started 2>/dev/null | wc -l')).body.stdout.trim()).toBe('0');
    });

    it('that is deploying returns exactly the specified 409', async () => {
      const name = `deploying ${crypto.randomUUID()}`;
      const { body } = await api.post<{ id: string }>('/api/agents', { name, templateId: 'blank' });
      const { status, body: refused } = await new Executions(api, body.id).run('true');
      expect([status, refused]).toEqual([
        409,
        { detail: { code: 'vm_not_ready', state: 'starting', execution_started: false } },
      ]);
      await api.inState(body.id, 'running');
    });

    it('that is deleted takes its executions with it', async () => {
      const { body } = await own.run('true');
      await api.call('DELETE', `/api/agents/${own.agentId}`);
      for (const response of [
        await own.get(body.executionId),
        await own.run('true'),
        await api.get(own.path),
      ]) {
        expect(response.status).toBe(404);
      }
    });
  });

  describe('an older agent', () => {
    let old: Executions;
    beforeAll(async () => {
      old = new Executions(api, (await api.runningAgent({ templateId: 'legacy' })).id);
    });

    it('returns both streams in stdout and no execution when attached', async () => {
      const { status, body } = await old.run('echo out; echo err >&2; exit 2');
      expect([status, body]).toEqual([200, { exitCode: 2, stdout: 'out\nerr\n', stderr: '' }]);
      expect((await api.get<{ items: unknown[] }>(old.path)).body.items).toEqual([]);
    });

    it('refuses detached with exactly the specified 501, runs nothing and wakes no agent', async () => {
      await api.post(`/api/agents/${old.agentId}/sleep`);
      const { status, body } = await old.run('echo x > started', { detached: true });
      expect([status, body]).toEqual([501, { detail: 'unsupported: outdated vm. Please use a new agent.' }]);
      expect((await old.run('x', { detached: true, timeout: 0 })).status).toBe(400);
      expect((await api.get(`/api/agents/${old.agentId}`)).body['state']).toBe('sleeping');
      expect((await old.run('ls started 2>/dev/null | wc -l')).body.stdout.trim()).toBe('0');
    });

    it('ends a command at its timeout with -1', async () => {
      const { status, body } = await old.run('echo a; sleep 100', { timeout: 0.5 });
      expect([status, body]).toEqual([200, { exitCode: -1, stdout: 'a\n', stderr: '' }]);
    });
  });
};
