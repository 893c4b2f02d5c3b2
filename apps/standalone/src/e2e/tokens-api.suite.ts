import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { anOwner, mintToken, PEOPLE, type AgentOwner } from './end-users.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

const ALL_SCOPES = ['chat', 'files', 'console', 'logs', 'app'];
const PUBLIC = new Set(['GET /health', 'GET /api/templates']);

/** Which routes and files a credential other than a key can reach. */
export const describeTokensApi = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('a credential that is not a key', () => {
    let owner: AgentOwner;
    let routes: readonly (readonly [method: string, path: string])[];

    beforeAll(async () => {
      owner = await anOwner(api, { templateId: 'echo' });
      const document = await api.get<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json');
      routes = Object.entries(document.body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
      );
    }, 60_000);

    /** The status of every route that is not public, called on any of the gateways. */
    const statuses = async (key: string): Promise<readonly (readonly [route: string, status: number])[]> => {
      const found: [string, number][] = [];
      for (const [n, [method, template]] of routes.entries()) {
        if (PUBLIC.has(`${method} ${template}`)) continue;
        if (template.startsWith('/agent/v1/') && key.startsWith('at_')) continue;
        const path = template.replace('{agent_id}', owner.agentId).replaceAll(/\{\w+\}/g, 'x');
        const gateway = n % stack().urls.length;
        found.push([`${method} ${template}`, (await api.call(method, path, { key, gateway })).status]);
      }
      expect(found.length).toBeGreaterThan(40);
      return found;
    };

    it('is rejected with 401 on every route if it is an agent’s token or was revoked', async () => {
      const { body } = await new Executions(api, owner.agentId).run('printf %s "$BERTH_AGENT_TOKEN"');
      expect(body.stdout).toMatch(/^at_/);
      const revoked = await mintToken(api, owner, ALL_SCOPES);
      await api.call('DELETE', `${PEOPLE}/${owner.externalId}/tokens`);
      for (const key of [body.stdout, revoked])
        expect((await statuses(key)).filter(([, status]) => status !== 401)).toEqual([]);
    });

    it('is rejected with 403 on routes for keys and 401 on routes for agents if it is an end user’s token of any scopes', async () => {
      const key = await mintToken(api, owner, ALL_SCOPES);
      const found = await statuses(key);
      const isForAgents = ([route]: readonly [string, number]): boolean => route.includes(' /agent/v1/');
      expect(new Set(found.filter(isForAgents).map(([, status]) => status))).toEqual(new Set([401]));
      const others = found.filter((one) => !isForAgents(one));
      const reached = others.filter(([, status]) => status !== 403).map(([route]) => route);
      expect([...reached].sort()).toEqual([
        'DELETE /api/agents/{agent_id}/files/delete',
        'GET /api/agents/{agent_id}',
        'GET /api/agents/{agent_id}/console',
        'GET /api/agents/{agent_id}/files/download',
        'GET /api/agents/{agent_id}/files/list',
        'GET /api/agents/{agent_id}/logs',
        'POST /api/agents/{agent_id}/chat',
        'POST /api/agents/{agent_id}/files/mkdir',
        'POST /api/agents/{agent_id}/files/move',
        'POST /api/agents/{agent_id}/files/upload',
        'PUT /api/agents/{agent_id}/files/write',
      ]);
    });
  });

  describe('a token with the scope files', () => {
    const filesOf = ({ agentId }: AgentOwner, key: string): Files =>
      new Files(() => ({ ...stack(), key }), agentId);
    const bytes = new TextEncoder().encode('text');

    it('reaches the files of the volume by every route, and nothing outside of it', async () => {
      const owner = await anOwner(api, { templateId: 'blank' });
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
      const owner = await anOwner(api);
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
    const responses: ApiResponse[] = [];
    const caller = async (n: number): Promise<void> => {
      const options = { key: keys[n % 2] ?? '', gateway: n % stack().urls.length };
      for (let sent = 0; sent < 62; sent++)
        responses.push(await api.get(`/api/agents/${owner.agentId}`, options));
    };
    await Promise.all(Array.from({ length: 10 }, (_, n) => caller(n)));
    const refused = responses.filter(({ status }) => status === 429);
    expect([responses.filter(({ status }) => status === 200).length, refused.length]).toEqual([600, 20]);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['rate_limited']));
    const waits = refused.map(({ headers }) => Number(headers.get('retry-after')));
    expect(waits.every((wait) => wait >= 1 && wait <= 60)).toBe(true);
    expect((await api.get(`/api/agents/${owner.agentId}`)).status).toBe(200);
  });
};
