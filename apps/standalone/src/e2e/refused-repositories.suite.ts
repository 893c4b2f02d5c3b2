import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from './api.fixture.js';
import { repository, type DeployTarget } from './deploy.fixture.js';

/** Repositories that are refused, or whose deployment fails without harm to the agent. */
export const describeRefusedRepositories = (target: DeployTarget): void => {
  describe('a repository that cannot be deployed', () => {
    let id: string;

    beforeAll(async () => {
      ({ id } = await target.api.runningAgent());
    });

    const failureOf = async (name: string, more: Record<string, unknown> = {}, timeoutMs?: number) => {
      const accepted = await target.deploy(id, name, more);
      expect(accepted.status).toBe(202);
      const { error } = await target.ended(id, accepted.body.deploymentId, timeoutMs);
      expect((await target.api.chat(id, 'unharmed?')).body.response).toContain('unharmed?');
      return error;
    };

    it('is one whose host redirects', async () => {
      target.git.on('moved', (request, response) => {
        response.writeHead(302, { location: request.url?.replace('moved', 'first') }).end();
      });
      expect(await failureOf('moved')).toMatchObject({ code: 'clone_failed' });
      expect(target.git.requests.at(-1)?.url).toContain('/moved/');
    });

    it('is one that does not exist, or that lacks the branch', async () => {
      expect(await failureOf('nowhere')).toMatchObject({ code: 'clone_failed' });
      await target.git.commit('branches', repository('x'), { branch: 'trunk' });
      expect(await failureOf('branches', { branch: 'main' })).toMatchObject({ code: 'branch_not_found' });
    });

    it('is one that says nothing about its start, or says it with a link', async () => {
      await target.git.commit('silent', { 'README.md': 'Hello.' });
      expect(await failureOf('silent')).toMatchObject({ code: 'cannot_start_repository' });
      await target.git.commit('linked', { 'berth.json': { linkTo: '/etc/passwd' } });
      const refused = await failureOf('linked');
      expect(refused).toMatchObject({ code: 'cannot_start_repository' });
      expect(refused?.message).not.toContain('root');
    });

    it('is one whose build fails', async () => {
      await target.git.commit('broken', { 'berth.json': JSON.stringify({ build: 'exit 9', start: 'x' }) });
      expect(await failureOf('broken')).toMatchObject({
        code: 'build_failed',
        message: expect.stringContaining('9') as string,
      });
    });

    it.each([
      ['a password', () => target.git.urlOf('first').replace('//', '//ann:secret@')],
      ['a host that is not allowed', () => 'https://example.org/x'],
      ['plain http', () => 'http://github.com/x/y'],
    ])('has a URL with %s, which no response repeats', async (_, url) => {
      const refused = await target.deploy(id, 'first', { repoUrl: url() });
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
      const refused = await target.deploy(id, 'first', more);
      expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request']);
      expect(refused.body).toMatchObject({ detail: { fields: [{ path: field }] } });
    });

    it('is any repository for an agent that does not exist', async () => {
      const refused = await target.deploy('agt_01jd2m3k4n5p6q7r8s9t0v1w2x', 'first');
      expect([refused.status, codeOf(refused)]).toEqual([404, 'agent_not_found']);
    });
  });
};
