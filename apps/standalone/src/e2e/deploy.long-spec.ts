import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeployTarget, repository } from './deploy.fixture.js';

const target = new DeployTarget({
  prepare: () => Promise.resolve({}),
  stop: (stack) => stack.stop(),
});

beforeAll(() => target.start());
afterAll(() => target.stop());

it('a repository with a tree of more than a gibibyte cannot be deployed, however small it is packed', async () => {
  await target.git.commit('huge', repository('x'), { zeros: { files: 17, bytes: 64 * 1024 ** 2 } });
  const { agentId, deployment } = await target.deployed('huge');
  expect(deployment.error).toMatchObject({ code: 'repo_too_large' });
  expect((await target.api.chat(agentId, 'unharmed?')).body.response).toContain('unharmed?');
});
