import { describe, expect, it } from 'vitest';
import { codeOf } from './api.fixture.js';
import { program, repository, type Deployment, type DeployTarget } from './deploy.fixture.js';

/** What a deployment does to its agent, whether the new version starts or not. */
export const describeDeployedRepositories = (target: DeployTarget): void => {
  describe('a deployment', () => {
    it('is refused while the end user of its agent is suspended', async () => {
      await target.git.commit('suspended', repository('suspended'));
      await target.api.call('PUT', '/api/v1/end-users/suspended', { body: {} });
      const { id } = await target.api.runningAgent({ templateId: 'blank', externalUserId: 'suspended' });
      await target.api.post('/api/v1/end-users/suspended/suspend');
      const refused = await target.deploy(id, 'suspended');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'end_user_suspended']);
      await target.api.post('/api/v1/end-users/suspended/resume');
      expect((await target.deploy(id, 'suspended')).status).toBe(202);
    });
  });

  describe('a deployed repository', () => {
    it('replaces the program of a running agent, and keeps the agent', async () => {
      const { id } = await target.api.runningAgent({ externalId: 'kept' });
      await target.api.call('PUT', `/api/agents/${id}/files/write`, {
        body: { path: 'note.txt', content: 'mine' },
      });
      const commit = await target.git.commit('first', repository('first version'));
      const accepted = await target.deploy(id, 'first');
      expect([accepted.status, accepted.body]).toMatchObject([202, { agent: { id, state: 'running' } }]);
      const deployment = await target.ended(id, accepted.body.deploymentId);
      expect(deployment).toMatchObject({ status: 'succeeded', error: null, commit });
      expect((await target.api.chat(id, 'hello')).body.response).toBe('first version blue');
      const source = { kind: 'git', repoUrl: target.git.urlOf('first'), branch: 'main', commit };
      expect(deployment.source).toEqual(source);
      const agent = await target.api.get(`/api/agents/${id}`);
      expect(agent.body).toMatchObject({ source, externalId: 'kept', state: 'running' });
      expect(
        (await target.api.get<{ text: string }>(`/api/agents/${id}/files/download?path=note.txt`)).body.text,
      ).toBe('mine');
      expect(await target.buildLog(id)).toEqual(
        expect.arrayContaining([expect.stringContaining('building in')]),
      );
      const { body } = await target.api.get<{ items: Deployment[] }>(`/api/agents/${id}/deployments`);
      expect(body.items).toEqual([deployment]);
    });

    it('gets the owner’s variables, and cannot write its code', async () => {
      const { id } = await target.api.runningAgent({ env: { COLOUR: 'green', SECRET: 'x' } });
      await target.git.commit('variables', {
        ...repository('v'),
        'berth.json': JSON.stringify({
          build:
            'env > seen-by-the-build; id -u > user; cp $(command -v sh) tool; chmod 4755 tool; mkfifo pipe',
          start: 'exec node main.mjs',
          env: { COLOUR: 'blue', PORT: '1', BERTH_AGENT_ID: 'mine' },
        }),
      });
      expect(await target.ended(id, (await target.deploy(id, 'variables')).body.deploymentId)).toMatchObject({
        error: null,
      });
      expect((await target.api.chat(id, 'hello')).body.response).toBe('v green');
      // The folder of the code is that of the program.
      const inCode =
        "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q '^node main.mjs' && cd $p/cwd && break; done 2>/dev/null;";
      const command = `${inCode} (echo x > main.mjs) || (touch new) || cat seen-by-the-build; stat -c %a tool; ls`;
      const { body } = await target.api.post<{ stdout: string }>(`/api/agents/${id}/exec`, { command });
      expect(body.stdout).toContain('COLOUR=blue');
      expect(body.stdout).not.toMatch(/SECRET|BERTH_AGENT_TOKEN/);
      expect(body.stdout).toMatch(/^755$/m);
      expect(body.stdout).not.toMatch(/^(pipe|new)$/m);
      const env = await target.api.call('PUT', `/api/agents/${id}/env/OTHER`, { body: { value: '1' } });
      expect(env.status).toBe(200);
      expect((await target.api.call('DELETE', `/api/agents/${id}/env/COLOUR`)).status).toBe(204);
      expect((await target.api.post(`/api/agents/${id}/env/reload`)).status).toBe(200);
      expect((await target.api.chat(id, 'hello')).body.response).toBe('v blue');
    });

    it('starts a failed agent', async () => {
      const created = await target.api.post<{ id: string }>('/api/agents', {
        name: 'to be saved',
        templateId: 'crasher',
      });
      await target.api.inState(created.body.id, 'failed', 60_000);
      await target.git.commit('saviour', repository('saved'));
      const { deploymentId } = (await target.deploy(created.body.id, 'saviour')).body;
      expect(await target.ended(created.body.id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect((await target.api.chat(created.body.id, 'hello')).body.response).toBe('saved blue');
    });

    it('does not wake a sleeping agent, which uses it from its next wake', async () => {
      const { id } = await target.api.runningAgent();
      await target.api.post(`/api/agents/${id}/sleep`);
      await target.git.commit('sleeper', repository('awake again'));
      const { deploymentId } = (await target.deploy(id, 'sleeper')).body;
      expect(await target.ended(id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect((await target.api.get(`/api/agents/${id}`)).body).toMatchObject({
        state: 'sleeping',
        source: { kind: 'git' },
      });
      expect((await target.api.chat(id, 'hello')).body.response).toBe('awake again blue');
    });

    it('is cloned with the secret that tokenEnv names, which no log shows', async () => {
      const { id } = await target.api.runningAgent({
        env: [{ key: 'GIT_PASSWORD', value: 'hunter2', secret: true }],
      });
      await target.git.commit('private', repository('from a private repository'), { password: 'hunter2' });
      const { deploymentId } = (await target.deploy(id, 'private', { tokenEnv: 'GIT_PASSWORD' })).body;
      expect(await target.ended(id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect(JSON.stringify(await target.buildLog(id))).not.toContain('hunter2');
      expect(target.stack.program.printed).not.toContain('hunter2');
      const anonymous = await target.ended(id, (await target.deploy(id, 'private')).body.deploymentId);
      expect(anonymous).toMatchObject({ status: 'failed', error: { code: 'clone_failed' } });
    });

    it('without npm’s lock file is installed and started by npm', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('node', {
        'package.json': JSON.stringify({
          type: 'module',
          scripts: { build: 'echo made > made.txt', start: 'node main.mjs' },
        }),
        'main.mjs': program('from npm'),
      });
      expect(await target.ended(id, (await target.deploy(id, 'node')).body.deploymentId)).toMatchObject({
        error: null,
      });
      expect((await target.api.chat(id, 'hello')).body.response).toBe('from npm ');
    });
  });

  describe('a version that does not start', () => {
    it('gives way to the one before, and the agent says why', async () => {
      const { id } = await target.api.runningAgent();
      await target.git.commit('crasher', { 'berth.json': JSON.stringify({ start: 'echo dying; exit 3' }) });
      const { deploymentId } = (await target.deploy(id, 'crasher')).body;
      expect(await target.ended(id, deploymentId)).toMatchObject({
        status: 'failed',
        error: { code: 'version_did_not_start', message: expect.stringContaining('3') as string },
      });
      const agent = await target.api.inState(id, 'running');
      expect(agent).toMatchObject({
        source: { kind: 'template' },
        lastError: { code: 'version_did_not_start' },
      });
      expect((await target.api.chat(id, 'still there?')).body.response).toContain('still there?');
    });
  });
};
