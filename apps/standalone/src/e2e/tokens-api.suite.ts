import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { anOwner, mintToken, PEOPLE, type AgentOwner } from './end-users.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';

const ALL_SCOPES = ['chat', 'files', 'console', 'logs', 'app'];

/** Which routes and files a credential other than a key can reach. */
export const describeTokensApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('a credential that is not a key', () => {
    let owner: AgentOwner;
    beforeAll(async () => {
      owner = await anOwner(api, { templateId: 'blank' });
    }, 60_000);

    /** The status of a route for keys, tokens and agents each, on every gateway. */
    const statuses = (key: string): Promise<readonly (readonly number[])[]> =>
      Promise.all(
        stack().urls.map((_, gateway) =>
          Promise.all(
            ['/api/agents', `/api/agents/${owner.agentId}`, '/agent/v1/self'].map(
              async (path) => (await api.get(path, { key, gateway })).status,
            ),
          ),
        ),
      );
    const everywhere = (...expected: readonly number[]): readonly (readonly number[])[] =>
      stack().urls.map(() => expected);

    it('is rejected with 401 if it was revoked, and reaches only the routes for agents if it is an agent’s token', async () => {
      const { body } = await new Executions(api, owner.agentId).run('printf %s "$BERTH_AGENT_TOKEN"');
      expect(body.stdout).toMatch(/^at_/);
      expect(await statuses(body.stdout)).toEqual(everywhere(401, 401, 200));
      const revoked = await mintToken(api, owner, ALL_SCOPES);
      await api.call('DELETE', `${PEOPLE}/${owner.externalId}/tokens`);
      expect(await statuses(revoked)).toEqual(everywhere(401, 401, 401));
    });

    it('is rejected with 403 on routes for keys and 401 on routes for agents if it is an end user’s token of any scopes', async () => {
      const key = await mintToken(api, owner, ALL_SCOPES);
      expect(await statuses(key)).toEqual(everywhere(403, 200, 401));
    });
  });

  describe('a token with the scope files', () => {
    const filesOf = ({ agentId }: AgentOwner, key: string): Files =>
      new Files(() => ({ ...stack(), key }), agentId);
    const bytes = new TextEncoder().encode('text');
    let owner: AgentOwner;
    beforeAll(async () => {
      owner = await anOwner(api, { templateId: 'blank' });
    }, 60_000);

    it('reaches the files of the volume by every route, and nothing outside of it', async () => {
      const files = filesOf(owner, await mintToken(api, owner, ['files']));
      expect((await files.write('a/b.txt', 'kept')).status).toBe(200);
      expect((await files.mkdir('c')).status).toBe(200);
      expect((await files.move('a/b.txt', 'c/d.txt')).status).toBe(200);
      expect((await files.upload(bytes, { name: 'e.txt', dest_dir: 'c' })).status).toBe(200);
      expect((await files.list('c')).body.entries.map(({ name }) => name)).toEqual(['d.txt', 'e.txt']);
      expect((await files.download('c/d.txt')).bytes.toString()).toBe('kept');
      expect((await files.delete('a')).status).toBe(200);
      const byKey = filesOf(owner, stack().key);
      await new Executions(api, owner.agentId).run('ln -s /etc/hostname out && ln -s / slash');
      expect((await byKey.download('out')).status).toBe(200);
      for (const path of ['/etc/hostname', 'out', 'slash/etc/hostname', '../../etc/hostname']) {
        const refused = await files.download(path);
        expect([path, refused.status, refused.json]).toMatchObject([
          path,
          400,
          { detail: { code: 'path_outside_volume' } },
        ]);
      }
    });

    it('attaches a file to the conversation only if it also has the scope chat', async () => {
      const refused = await filesOf(owner, await mintToken(api, owner, ['files'])).upload(bytes, {
        name: 'a.txt',
      });
      expect([refused.status, codeOf(refused)]).toEqual([403, 'token_scope']);
      const files = filesOf(owner, await mintToken(api, owner, ['files', 'chat']));
      expect((await files.list()).body.entries.map(({ name }) => name)).not.toContain('inbox');
      const attached = await files.upload(bytes, { name: 'a.txt', message: 'look' });
      expect([attached.status, attached.body]).toMatchObject([200, { name: 'a.txt' }]);
      expect((await files.list('inbox')).body.entries.map(({ name }) => name)).toEqual(['a.txt']);
    });
  });
};

/** How several gateways together count the requests of an end user. */
export const describeRequestRate = (stack: () => Stack): void => {
  const api = new Api(stack);

  it('an end user has exactly 600 requests a minute, with all its tokens and at all gateways together', async () => {
    const owner = await anOwner(api, { templateId: 'blank' });
    const keys = [await mintToken(api, owner, ['logs']), await mintToken(api, owner, ['chat'])];
    const path = `/api/agents/${owner.agentId}`;
    expect((await api.get(path, { key: keys[0] ?? '' })).status).toBe(200);
    // As if it had made 590.
    await queryTables(
      stack().dataDir,
      `UPDATE end_users.request_rate SET requests = 590
       WHERE end_user_id = (SELECT id FROM end_users.end_user_list WHERE external_id = $1)`,
      [owner.externalId],
    );
    const gateways = stack().urls.length;
    const responses: readonly ApiResponse[] = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        api.get(path, { key: keys[n % 2] ?? '', gateway: (n >> 1) % gateways }),
      ),
    );
    const refused = responses.filter(({ status }) => status === 429);
    expect([responses.filter(({ status }) => status === 200).length, refused.length]).toEqual([10, 20]);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['rate_limited']));
    const waits = refused.map(({ headers }) => Number(headers.get('retry-after')));
    expect(waits.every((wait) => wait >= 1 && wait <= 60)).toBe(true);
    expect((await api.get(path)).status).toBe(200);
  });
};
