import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, GitServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly commit: string | null;
  readonly source: Record<string, unknown>;
}

const folder = temporaryFolder();
const api = new Api(() => stack);
let git: GitServer;
let stack: StandaloneStack;

beforeAll(async () => {
  git = await GitServer.start();
  const config = join(folder.path, 'operator.yaml');
  writeFileSync(config, `deploy:\n  gitHosts: [github.com, { host: "${git.host}", insecure: true }]\n`);
  stack = await startStandaloneStack(join(folder.path, 'data'), {
    BERTH_CONFIG: config,
    GIT_SSL_CAINFO: git.caFile,
  });
});

afterAll(async () => {
  await stack?.stop();
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

const repository = (words: string, more: Record<string, string> = {}) => ({
  'berth.json': JSON.stringify({
    build: 'echo building in $PWD && echo built > built.txt',
    start: 'exec node main.mjs',
    env: { COLOUR: 'blue', PORT: '1', BERTH_AGENT_ID: 'mine' },
  }),
  'main.mjs': program(words),
  ...more,
});

const deploy = (agentId: string, name: string, more: Record<string, unknown> = {}) =>
  api.post<{ deploymentId: string }>('/api/deploy', {
    agentId,
    source: 'git',
    repoUrl: git.urlOf(name),
    ...more,
  });

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

describe('deploying a repository', () => {
  it('restarts a running agent with the new version', async () => {
    const { id } = await api.runningAgent();
    const commit = await git.commit('first', repository('first version'));
    const accepted = await deploy(id, 'first');
    expect([accepted.status, accepted.body]).toMatchObject([202, { agent: { id, state: 'running' } }]);
    const deployment = await ended(id, accepted.body.deploymentId);
    expect(deployment).toMatchObject({ status: 'succeeded', error: null, commit });
    expect((await api.chat(id, 'hello')).body.response).toBe('first version blue');
    expect((await api.get(`/api/agents/${id}`)).body['source']).toEqual({
      kind: 'git',
      repoUrl: git.urlOf('first'),
      branch: 'main',
      commit,
    });
    const logs = await api.get<{ logs: { message: string }[] }>(`/api/agents/${id}/logs?source=build`);
    expect(logs.body.logs.map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining('building in')]),
    );
    expect(codeOf(accepted)).toBeUndefined();
  });
});
