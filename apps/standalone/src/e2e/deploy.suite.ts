import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually, GitServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly commit: string | null;
  readonly source: Record<string, unknown>;
}

/** How an installation with one of the drivers is set up and ended. */
export interface DeployInstallation {
  /** Prepares the data folder, which exists, and returns the settings. */
  prepare(dataDir: string): Promise<Env>;
  stop(stack: StandaloneStack, env: Env): Promise<void>;
}

/** What tests of one driver share with those of all. */
export interface DeployTools {
  readonly api: Api;
  readonly git: () => GitServer;
  /** Deploys a repository of that name to a new agent, and waits for the end of the deployment. */
  deployed(name: string): Promise<{ readonly agentId: string; readonly deployment: Deployment }>;
}

/** Deployments of repositories over HTTP: the same guarantees for every driver. `more` adds those of one driver. */
export const describeDeployApi = (
  installation: DeployInstallation,
  more: (tools: DeployTools) => void = () => undefined,
): void => {
  const folder = temporaryFolder();
  const api = new Api(() => stack);
  let git: GitServer;
  let stack: StandaloneStack;
  let env: Env;

  beforeAll(async () => {
    // Builds run as users of their own, and look for the gate in it.
    chmodSync(folder.path, 0o755);
    git = await GitServer.start();
    const config = join(folder.path, 'operator.yaml');
    writeFileSync(config, `deploy:\n  gitHosts: [github.com, { host: "${git.host}", insecure: true }]\n`);
    mkdirSync(join(folder.path, 'data'), { mode: 0o700 });
    env = await installation.prepare(join(folder.path, 'data'));
    await startStack();
  });

  const startStack = async (): Promise<void> => {
    stack = await startStandaloneStack(join(folder.path, 'data'), {
      ...env,
      BERTH_CONFIG: join(folder.path, 'operator.yaml'),
      GIT_SSL_CAINFO: git.caFile,
    });
  };

  afterAll(async () => {
    await installation.stop(stack, env);
    await git.stop();
    folder.remove();
  });

  /** A program that responds to a chat with these words, and the value of a variable. */
  const program = (words: string): string => `
  import { createServer } from 'node:http';
  createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ response: ${JSON.stringify(words)} + ' ' + (process.env.COLOUR ?? '') }));
  }).listen(process.env.PORT, '127.0.0.1');
`;

  const repository = (words: string, more: Record<string, string> = {}): Record<string, string> => ({
    'berth.json': JSON.stringify({
      build: 'echo building in $PWD && echo built > built.txt',
      start: 'exec node main.mjs',
      env: { COLOUR: 'blue', PORT: '1', BERTH_AGENT_ID: 'mine' },
    }),
    'main.mjs': program(words),
    ...more,
  });

  /** Builds until the test opens its gate. */
  const slowly = (words: string) => ({
    ...repository(words),
    'berth.json': JSON.stringify({
      build: 'until test -e gate; do sleep 0.1; done',
      start: 'exec node main.mjs',
      env: { COLOUR: 'blue' },
    }),
  });

  /** Puts a file into the folder of the build that waits for it, wherever the driver has that folder. */
  const openGate = async (): Promise<void> => {
    const waiting = () =>
      processesOf(join(folder.path, 'data')).find(({ command }) =>
        command.startsWith('/bin/sh -c until test -e gate'),
      );
    await eventually(() => waiting() !== undefined, { timeoutMs: 20_000 });
    writeFileSync(`/proc/${String(waiting()?.pid)}/cwd/gate`, '');
  };

  const buildLog = async (agentId: string): Promise<readonly string[]> => {
    const path = `/api/agents/${agentId}/logs?source=build&limit=1000`;
    const { body } = await api.get<{ logs: readonly { readonly message: string }[] }>(path);
    return body.logs.map(({ message }) => message);
  };

  const running = (command: string) =>
    processesOf(join(folder.path, 'data')).filter((one) => one.command.endsWith(command));

  const deploy = (agentId: string, name: string, more: Record<string, unknown> = {}) =>
    api.post<{ deploymentId: string }>('/api/deploy', {
      agentId,
      source: 'git',
      repoUrl: git.urlOf(name),
      ...more,
    });

  const inStatus = async (agentId: string, deploymentId: string, status: string): Promise<void> => {
    await eventually(
      async () => {
        const { body } = await api.get(`/api/agents/${agentId}/deployments/${deploymentId}`);
        return body['status'] === status;
      },
      { timeoutMs: 20_000 },
    );
  };

  const ended = async (agentId: string, deploymentId: string, timeoutMs = 60_000): Promise<Deployment> =>
    eventually(
      async () => {
        const { body } = await api.get<Deployment & Record<string, unknown>>(
          `/api/agents/${agentId}/deployments/${deploymentId}`,
        );
        if (body.status !== 'succeeded' && body.status !== 'failed')
          throw new Error(`The deployment is ${JSON.stringify(body)}.`);
        return body;
      },
      { timeoutMs },
    );

  describe('a deployment', () => {
    it('is refused while the end user of its agent is suspended', async () => {
      await git.commit('suspended', repository('suspended'));
      await api.call('PUT', '/api/v1/end-users/suspended', { body: {} });
      const { id } = await api.runningAgent({ templateId: 'blank', externalUserId: 'suspended' });
      await api.post('/api/v1/end-users/suspended/suspend');
      const refused = await deploy(id, 'suspended');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'end_user_suspended']);
      await api.post('/api/v1/end-users/suspended/resume');
      expect((await deploy(id, 'suspended')).status).toBe(202);
    });
  });

  describe('a deployed repository', () => {
    it('replaces the program of a running agent, and keeps the agent', async () => {
      const { id } = await api.runningAgent({ externalId: 'kept' });
      await api.call('PUT', `/api/agents/${id}/files/write`, { body: { path: 'note.txt', content: 'mine' } });
      const commit = await git.commit('first', repository('first version'));
      const accepted = await deploy(id, 'first');
      expect([accepted.status, accepted.body]).toMatchObject([202, { agent: { id, state: 'running' } }]);
      const deployment = await ended(id, accepted.body.deploymentId);
      expect(deployment).toMatchObject({ status: 'succeeded', error: null, commit });
      expect((await api.chat(id, 'hello')).body.response).toBe('first version blue');
      const source = { kind: 'git', repoUrl: git.urlOf('first'), branch: 'main', commit };
      expect(deployment.source).toEqual(source);
      const agent = await api.get(`/api/agents/${id}`);
      expect(agent.body).toMatchObject({ source, externalId: 'kept', state: 'running' });
      expect(
        (await api.get<{ text: string }>(`/api/agents/${id}/files/download?path=note.txt`)).body.text,
      ).toBe('mine');
      expect(await buildLog(id)).toEqual(expect.arrayContaining([expect.stringContaining('building in')]));
      const { body } = await api.get<{ items: Deployment[] }>(`/api/agents/${id}/deployments`);
      expect(body.items).toEqual([deployment]);
    });

    it('gets the owner’s variables, and cannot write its code', async () => {
      const { id } = await api.runningAgent({ env: { COLOUR: 'green', SECRET: 'x' } });
      await git.commit('variables', {
        ...repository('v'),
        'berth.json': JSON.stringify({
          build:
            'env > seen-by-the-build; id -u > user; cp $(command -v sh) tool; chmod 4755 tool; mkfifo pipe',
          start: 'exec node main.mjs',
          env: { COLOUR: 'blue', PORT: '1', BERTH_AGENT_ID: 'mine' },
        }),
      });
      expect(await ended(id, (await deploy(id, 'variables')).body.deploymentId)).toMatchObject({
        error: null,
      });
      expect((await api.chat(id, 'hello')).body.response).toBe('v green');
      const run = async (command: string) =>
        (await api.post<{ stdout: string; exitCode: number }>(`/api/agents/${id}/exec`, { command })).body;
      // The folder of the code is that of the program.
      const inCode =
        "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q '^node main.mjs' && cd $p/cwd && break; done 2>/dev/null;";
      expect((await run(`${inCode} cat seen-by-the-build`)).stdout).toContain('COLOUR=blue');
      expect((await run(`${inCode} cat seen-by-the-build`)).stdout).not.toMatch(/SECRET|BERTH_AGENT_TOKEN/);
      expect((await run(`${inCode} echo x > main.mjs`)).exitCode).not.toBe(0);
      expect((await run(`${inCode} touch new`)).exitCode).not.toBe(0);
      expect((await run(`${inCode} stat -c %a tool; ls`)).stdout).toMatch(/^755\n/);
      expect((await run(`${inCode} ls`)).stdout).not.toContain('pipe');
      const env = await api.call('PUT', `/api/agents/${id}/env/OTHER`, { body: { value: '1' } });
      expect(env.status).toBe(200);
      expect((await api.call('DELETE', `/api/agents/${id}/env/COLOUR`)).status).toBe(204);
      expect((await api.post(`/api/agents/${id}/env/reload`)).status).toBe(200);
      expect((await api.chat(id, 'hello')).body.response).toBe('v blue');
    });

    it('starts a failed agent', async () => {
      const created = await api.post<{ id: string }>('/api/agents', {
        name: 'to be saved',
        templateId: 'crasher',
      });
      await api.inState(created.body.id, 'failed', 60_000);
      await git.commit('saviour', repository('saved'));
      const { deploymentId } = (await deploy(created.body.id, 'saviour')).body;
      expect(await ended(created.body.id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect((await api.chat(created.body.id, 'hello')).body.response).toBe('saved blue');
    });

    it('does not wake a sleeping agent, which uses it from its next wake', async () => {
      const { id } = await api.runningAgent();
      await api.post(`/api/agents/${id}/sleep`);
      await git.commit('sleeper', repository('awake again'));
      const { deploymentId } = (await deploy(id, 'sleeper')).body;
      expect(await ended(id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({
        state: 'sleeping',
        source: { kind: 'git' },
      });
      expect((await api.chat(id, 'hello')).body.response).toBe('awake again blue');
    });

    it('is cloned with the secret that tokenEnv names, which no log shows', async () => {
      const { id } = await api.runningAgent({
        env: [{ key: 'GIT_PASSWORD', value: 'hunter2', secret: true }],
      });
      await git.commit('private', repository('from a private repository'), { password: 'hunter2' });
      const { deploymentId } = (await deploy(id, 'private', { tokenEnv: 'GIT_PASSWORD' })).body;
      expect(await ended(id, deploymentId)).toMatchObject({ status: 'succeeded' });
      expect(JSON.stringify(await buildLog(id))).not.toContain('hunter2');
      expect(stack.program.printed).not.toContain('hunter2');
      const anonymous = await ended(id, (await deploy(id, 'private')).body.deploymentId);
      expect(anonymous).toMatchObject({ status: 'failed', error: { code: 'clone_failed' } });
    });

    it('without npm’s lock file is installed and started by npm', async () => {
      const { id } = await api.runningAgent();
      await git.commit('node', {
        'package.json': JSON.stringify({
          type: 'module',
          scripts: { build: 'echo made > made.txt', start: 'node main.mjs' },
        }),
        'main.mjs': program('from npm'),
      });
      expect(await ended(id, (await deploy(id, 'node')).body.deploymentId)).toMatchObject({ error: null });
      expect((await api.chat(id, 'hello')).body.response).toBe('from npm ');
    });
  });

  describe('a version that does not start', () => {
    it('gives way to the one before, and the agent says why', async () => {
      const { id } = await api.runningAgent();
      await git.commit('crasher', { 'berth.json': JSON.stringify({ start: 'echo dying; exit 3' }) });
      const { deploymentId } = (await deploy(id, 'crasher')).body;
      expect(await ended(id, deploymentId)).toMatchObject({
        status: 'failed',
        error: { code: 'version_did_not_start', message: expect.stringContaining('3') as string },
      });
      const agent = await api.inState(id, 'running');
      expect(agent).toMatchObject({
        source: { kind: 'template' },
        lastError: { code: 'version_did_not_start' },
      });
      expect((await api.chat(id, 'still there?')).body.response).toContain('still there?');
    });
  });

  describe('a repository that cannot be deployed', () => {
    let id: string;

    beforeAll(async () => {
      ({ id } = await api.runningAgent());
    });

    const failureOf = async (name: string, more: Record<string, unknown> = {}, timeoutMs?: number) => {
      const accepted = await deploy(id, name, more);
      expect(accepted.status).toBe(202);
      const { error } = await ended(id, accepted.body.deploymentId, timeoutMs);
      expect((await api.chat(id, 'unharmed?')).body.response).toContain('unharmed?');
      return error;
    };

    it('is one whose host redirects', async () => {
      git.on('moved', (request, response) => {
        response.writeHead(302, { location: request.url?.replace('moved', 'first') }).end();
      });
      expect(await failureOf('moved')).toMatchObject({ code: 'clone_failed' });
      expect(git.requests.at(-1)?.url).toContain('/moved/');
    });

    it('is one that does not exist, or that lacks the branch', async () => {
      expect(await failureOf('nowhere')).toMatchObject({ code: 'clone_failed' });
      await git.commit('branches', repository('x'), { branch: 'trunk' });
      expect(await failureOf('branches', { branch: 'main' })).toMatchObject({ code: 'branch_not_found' });
    });

    it('is one with a tree of more than a gibibyte, however small it is packed', async () => {
      await git.commit('huge', repository('x'), { zeros: { files: 17, bytes: 64 * 1024 ** 2 } });
      expect(await failureOf('huge')).toMatchObject({ code: 'repo_too_large' });
    });

    it('is one that says nothing about its start, or says it with a link', async () => {
      await git.commit('silent', { 'README.md': 'Hello.' });
      expect(await failureOf('silent')).toMatchObject({ code: 'cannot_start_repository' });
      await git.commit('linked', { 'berth.json': { linkTo: '/etc/passwd' } });
      const refused = await failureOf('linked');
      expect(refused).toMatchObject({ code: 'cannot_start_repository' });
      expect(refused?.message).not.toContain('root');
    });

    it('is one whose build fails', async () => {
      await git.commit('broken', { 'berth.json': JSON.stringify({ build: 'exit 9', start: 'x' }) });
      expect(await failureOf('broken')).toMatchObject({
        code: 'build_failed',
        message: expect.stringContaining('9') as string,
      });
    });

    it.each([
      ['a password', () => git.urlOf('first').replace('//', '//ann:secret@')],
      ['a host that is not allowed', () => 'https://example.org/x'],
      ['plain http', () => 'http://github.com/x/y'],
    ])('has a URL with %s, which no response repeats', async (_, url) => {
      const refused = await deploy(id, 'first', { repoUrl: url() });
      expect([refused.status, codeOf(refused)]).toEqual([400, 'repo_url_refused']);
      expect(JSON.stringify(refused.body)).not.toContain('secret');
    });

    it.each([
      ['branch', { branch: '-x' }],
      ['branch', { branch: 'a b' }],
      ['tokenEnv', { tokenEnv: 'NOT_THERE' }],
      ['repoUrl', { repoUrl: null }],
      ['source', { source: 'svn' }],
    ])('has an invalid %s', async (field, more) => {
      const refused = await deploy(id, 'first', more);
      expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request']);
      expect(refused.body).toMatchObject({ detail: { fields: [{ path: field }] } });
    });

    it('is any repository for an agent that does not exist', async () => {
      const refused = await deploy('agt_01jd2m3k4n5p6q7r8s9t0v1w2x', 'first');
      expect([refused.status, codeOf(refused)]).toEqual([404, 'agent_not_found']);
    });
  });

  describe('a build', () => {
    it('leaves no process behind', async () => {
      const { id } = await api.runningAgent();
      const mark = `left-behind-${String(Date.now())}`;
      await git.commit('forks', {
        ...repository('forked'),
        'berth.json': JSON.stringify({
          build: `setsid sh -c 'exec -a ${mark} sleep 1000' & (sleep 999 & sleep 998 &) & echo ${mark}`,
          start: 'exec node main.mjs',
        }),
      });
      expect(await ended(id, (await deploy(id, 'forks')).body.deploymentId)).toMatchObject({ error: null });
      expect(
        processesOf(join(folder.path, 'data')).filter(({ command }) => /sleep 99/.test(command)),
      ).toEqual([]);
    });

    it('that waits is superseded by a newer deployment', async () => {
      const { id } = await api.runningAgent();
      await git.commit('slow', slowly('slow'));
      await git.commit('quick', repository('quick'));
      const first = (await deploy(id, 'slow')).body.deploymentId;
      await inStatus(id, first, 'building');
      const second = (await deploy(id, 'slow')).body.deploymentId;
      const third = (await deploy(id, 'quick')).body.deploymentId;
      expect(await ended(id, second)).toMatchObject({ error: { code: 'superseded' } });
      await openGate();
      expect(await ended(id, first)).toMatchObject({ status: 'succeeded' });
      expect(await ended(id, third)).toMatchObject({ status: 'succeeded' });
      expect((await api.chat(id, 'hello')).body.response).toBe('quick blue');
    });

    it('ends when its agent is deleted', async () => {
      const { id } = await api.runningAgent();
      await git.commit('endless', { 'berth.json': JSON.stringify({ build: 'sleep 997', start: 'x' }) });
      const { deploymentId } = (await deploy(id, 'endless')).body;
      await inStatus(id, deploymentId, 'building');
      await eventually(() => running('sleep 997').length > 0, { timeoutMs: 20_000 });
      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
      expect((await api.get(`/api/agents/${id}/deployments/${deploymentId}`)).status).toBe(404);
      await eventually(() => running('sleep 997').length === 0, { timeoutMs: 20_000 });
    });

    it('that Berth does not survive is interrupted, and what it started ends', async () => {
      const { id } = await api.runningAgent();
      await git.commit('killed', { 'berth.json': JSON.stringify({ build: 'sleep 996', start: 'x' }) });
      const { deploymentId } = (await deploy(id, 'killed')).body;
      await inStatus(id, deploymentId, 'building');
      await eventually(() => running('sleep 996').length > 0, { timeoutMs: 20_000 });
      await stack.program.end('SIGKILL');
      await startStack();
      expect(await ended(id, deploymentId)).toMatchObject({
        status: 'failed',
        error: { code: 'interrupted' },
      });
      expect(running('sleep 996')).toEqual([]);
    });
  });

  more({
    api,
    git: () => git,
    deployed: async (name) => {
      const { id: agentId } = await api.runningAgent();
      const accepted = await deploy(agentId, name);
      return { agentId, deployment: await ended(agentId, accepted.body.deploymentId) };
    },
  });
};
