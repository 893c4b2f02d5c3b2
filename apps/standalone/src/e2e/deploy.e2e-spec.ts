import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { describeDeployApi } from './deploy.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

describeDeployApi(
  {
    prepare: () => Promise.resolve({}),
    stop: (stack) => stack.stop(),
  },
  (target) => {
    it('of a repository with a Dockerfile fails where agents do not run in containers', async () => {
      await target.git.commit('contained', { Dockerfile: 'FROM scratch' });
      const { deployment } = await target.deployed('contained');
      expect(deployment.error).toMatchObject({
        code: 'cannot_start_repository',
        message: expect.stringContaining('containers') as string,
      });
    });
  },
);

describe('a deployment without containers', () => {
  const folder = temporaryFolder();
  const api = new Api(() => stack);
  let stack: StandaloneStack;
  let id: string;

  beforeAll(async () => {
    stack = await startStandaloneStack(folder.path);
    ({ id } = await api.runningAgent());
  });

  afterAll(async () => {
    await stack.stop();
    folder.remove();
  });

  it('of an image is refused', async () => {
    const refused = await api.post('/api/deploy', { agentId: id, source: 'image', image: 'ghcr.io/a/b:1' });
    expect([refused.status, codeOf(refused)]).toEqual([501, 'images_unsupported']);
  });
});
