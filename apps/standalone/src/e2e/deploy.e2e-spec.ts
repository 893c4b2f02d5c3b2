import { describe, expect, it } from 'vitest';
import { codeOf } from './api.fixture.js';
import { describeDeployApi } from './deploy.suite.js';

describeDeployApi(
  {
    prepare: () => Promise.resolve({}),
    stop: (stack) => stack.stop(),
  },
  (target) => {
    describe('a deployment where agents do not run in containers', () => {
      it('of a repository with a Dockerfile fails', async () => {
        await target.git.commit('contained', { Dockerfile: 'FROM scratch' });
        const { deployment } = await target.deployed('contained');
        expect(deployment.error).toMatchObject({
          code: 'cannot_start_repository',
          message: expect.stringContaining('containers') as string,
        });
      });

      it('of an image is refused', async () => {
        const { id } = await target.api.runningAgent();
        const refused = await target.api.post('/api/deploy', {
          agentId: id,
          source: 'image',
          image: 'ghcr.io/a/b:1',
        });
        expect([refused.status, codeOf(refused)]).toEqual([501, 'images_unsupported']);
      });
    });
  },
);
