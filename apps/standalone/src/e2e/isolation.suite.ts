import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { openAccount, runningAgentOf, type OpenedAccount } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The expected response of a route to another account's key. */
type Row =
  | 'public'
  /** Needs a scope that the key of no opened account has. */
  | 'operate'
  /** Concerns the account of the key alone; the tests below say how. */
  | 'own'
  /** Names a resource of account B: 404 for account A. The body, and the member of it that names the agent. */
  | { readonly body?: object; readonly agentIn?: string };

/** Repeated on purpose: a new route must be added here. */
const MATRIX: Readonly<Record<string, Row>> = {
  'GET /agent/v1/self': 'own',
  'PUT /agent/v1/schedules': 'own',
  'GET /health': 'public',
  'GET /api/templates': 'public',
  'POST /api/v1/keys': 'own',
  'GET /api/v1/keys': 'own',
  'GET /api/v1/account': 'own',
  'GET /api/v1/audit': 'own',
  'GET /api/v1/usage': 'own',
  'GET /api/v1/usage/daily': 'own',
  'GET /api/v1/llm-calls': 'own',
  'POST /api/agents': 'own',
  'GET /api/agents': 'own',
  'DELETE /api/v1/keys/{key_id}': {},
  'GET /api/agents/{agent_id}': {},
  'DELETE /api/agents/{agent_id}': {},
  'POST /api/agents/{agent_id}/start': {},
  'POST /api/agents/{agent_id}/stop': {},
  'POST /api/agents/{agent_id}/sleep': {},
  'POST /api/agents/{agent_id}/restart': {},
  'GET /api/agents/{agent_id}/stats': {},
  'POST /api/deploy': {
    agentIn: 'agentId',
    body: { source: 'git', repoUrl: 'https://github.com/berth-none/none' },
  },
  'GET /api/agents/{agent_id}/deployments': {},
  'GET /api/agents/{agent_id}/deployments/{deployment_id}': {},
  'GET /api/agents/{agent_id}/logs': {},
  'GET /api/agents/{agent_id}/schedules': {},
  'GET /api/agents/{agent_id}/env': {},
  'PUT /api/agents/{agent_id}/env/{key}': { body: { value: 'x' } },
  'DELETE /api/agents/{agent_id}/env/{key}': {},
  'POST /api/agents/{agent_id}/env/reload': {},
  'POST /api/agents/{agent_id}/chat': { body: { message: 'hello' } },
  'GET /api/agents/{agent_id}/files/list': {},
  'GET /api/agents/{agent_id}/files/download': {},
  'POST /api/agents/{agent_id}/files/mkdir': { body: { path: 'x' } },
  'POST /api/agents/{agent_id}/files/move': { body: { from: 'x', to: 'y' } },
  'DELETE /api/agents/{agent_id}/files/delete': {},
  'POST /api/agents/{agent_id}/files/upload': {},
  'PUT /api/agents/{agent_id}/files/write': { body: { path: 'x', content: 'y' } },
  'POST /api/agents/{agent_id}/exec': { body: { command: 'true' } },
  'GET /api/agents/{agent_id}/exec': {},
  'GET /api/agents/{agent_id}/exec/{execution_id}': {},
  'DELETE /api/agents/{agent_id}/exec/{execution_id}': {},
  'GET /api/agents/{agent_id}/exec/{execution_id}/output': {},
  'GET /api/agents/{agent_id}/console': {},
  'GET /api/v1/end-users': 'own',
  'PUT /api/v1/end-users/{external_id}': 'own',
  'GET /api/v1/end-users/{external_id}': {},
  'DELETE /api/v1/end-users/{external_id}': {},
  'POST /api/v1/end-users/{external_id}/agents': 'own',
  'GET /api/v1/end-users/{external_id}/agents': {},
  'POST /api/v1/end-users/{external_id}/suspend': {},
  'POST /api/v1/end-users/{external_id}/resume': {},
  'POST /api/v1/end-users/{external_id}/tokens': { body: {} },
  'DELETE /api/v1/end-users/{external_id}/tokens': {},
  'PUT /api/v1/end-users/{external_id}/policy': { body: { policy: {} } },
  'GET /api/v1/end-users/{external_id}/policy': {},
  'DELETE /api/v1/end-users/{external_id}/policy': {},
  'GET /api/v1/end-user-defaults': 'own',
  'PUT /api/v1/end-user-defaults': 'own',
  'DELETE /api/v1/end-user-defaults': 'own',
  'POST /api/webhooks/{agent_id}': 'public',
  'GET /api/webhooks/{agent_id}/token': {},
  'POST /api/webhooks/{agent_id}/token/rotate': {},
  'GET /api/webhooks/{agent_id}/deliveries': {},
  'POST /api/webhooks/{agent_id}/deliveries/{delivery_id}/redeliver': {},
  'POST /api/v1/computers': 'own',
  'GET /api/v1/computers': 'own',
  'GET /api/v1/computers/usage': 'own',
  'GET /api/v1/computers/{computer_id}': {},
  'DELETE /api/v1/computers/{computer_id}': {},
  'POST /api/v1/computers/{computer_id}/wake': {},
  'POST /api/v1/computers/{computer_id}/sleep': {},
  'POST /api/v1/computers/{computer_id}/actions': { body: { type: 'screenshot' } },
  'GET /api/v1/computers/{computer_id}/screenshot': {},
  'POST /api/v1/computers/{computer_id}/exec': { body: { command: 'true' } },
  'GET /api/v1/computers/{computer_id}/files': {},
  'PUT /api/v1/computers/{computer_id}/files': {},
  'GET /api/v1/computers/{computer_id}/files/list': {},
  'POST /api/v1/computers/{computer_id}/viewer': { body: {} },
  'POST /api/v1/computers/{computer_id}/sessions/close': { body: {} },
  'GET /api/v1/computers/{computer_id}/sessions': {},
  'POST /api/v1/feedback': 'own',
  'GET /api/v1/operations/feedback': 'operate',
  'POST /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts/{account_id}': 'operate',
  'PUT /api/v1/operations/accounts/{account_id}': 'operate',
  'POST /api/v1/operations/accounts/{account_id}/keys': 'operate',
  'POST /api/v1/operations/accounts/{account_id}/credits': 'operate',
  'GET /api/v1/operations/projections': 'operate',
  'GET /api/v1/operations/usage-recount': 'operate',
  'POST /api/v1/operations/projections/{name}/rebuild': 'operate',
  'GET /api/v1/operations/dead-letters': 'operate',
  'POST /api/v1/operations/dead-letters/{id}/replay': 'operate',
  'DELETE /api/v1/operations/dead-letters/{id}': 'operate',
  'GET /api/v1/operations/hosts': 'operate',
  'POST /api/v1/operations/hosts/{id}/drain': 'operate',
  'POST /api/v1/operations/hosts/{id}/resume': 'operate',
  'DELETE /api/v1/operations/hosts/{id}': 'operate',
};

/** Tests that an account sees nothing of another one. */
export const describeIsolation = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('two accounts', () => {
    let [a, b] = [] as unknown as readonly [OpenedAccount, OpenedAccount];
    let ofA: Readonly<Record<string, string>>;
    let routes: readonly string[];

    beforeAll(async () => {
      [a, b] = [await openAccount(api, 'A'), await openAccount(api, 'B')];
      const agentId = await runningAgentOf(api, a.key, {
        name: 'shared name',
        externalId: 'shared-external',
      });
      const { body } = await api.post<{ executionId: string }>(
        `/api/agents/${agentId}/exec`,
        { command: 'true' },
        { key: a.key },
      );
      await api.call('PUT', `/api/agents/${agentId}/env/OF_A`, { key: a.key, body: { value: 'x' } });
      await api.call('PUT', '/api/v1/end-users/of-a', { key: a.key, body: {} });
      const computer = await api.post<{ id: string }>('/api/v1/computers', {}, { key: a.key });
      ofA = {
        external_id: 'of-a',
        agent_id: agentId,
        computer_id: computer.body.id,
        execution_id: body.executionId,
        key_id: a.keyId,
        account_id: a.id,
        key: 'OF_A',
        deployment_id: newId('dep'),
        delivery_id: newId('dlv'),
        name: 'agent-list',
        id: newId('hst'),
      };
      const document = await api.get<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json');
      routes = Object.entries(document.body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
    }, 60_000);

    /** Ids of the same form that name nothing. */
    const nothing = (): Readonly<Record<string, string>> => ({
      ...ofA,
      external_id: 'nobody',
      agent_id: newId('agt'),
      computer_id: newId('cmp'),
      execution_id: newId('exe'),
      key_id: newId('key'),
      account_id: newId('acc'),
    });

    const callAs = async (
      key: string,
      route: string,
      ids: Readonly<Record<string, string>>,
    ): Promise<ApiResponse> => {
      const [method = '', template = ''] = route.split(' ');
      const row = MATRIX[route];
      const { body, agentIn } = typeof row === 'object' ? row : {};
      const named = agentIn === undefined ? {} : { [agentIn]: ids['agent_id'] };
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);
      return await api.call(method, path, {
        key,
        ...(body === undefined ? {} : { body: { ...body, ...named } }),
      });
    };

    it('have a row of the matrix for every route', () => {
      expect([...routes].sort()).toEqual(Object.keys(MATRIX).sort());
    });

    it("find the other's resources exactly as those that do not exist: 404", async () => {
      for (const [route] of Object.entries(MATRIX).filter(([, row]) => typeof row === 'object')) {
        const [theirs, none] = [await callAs(b.key, route, ofA), await callAs(b.key, route, nothing())];
        expect([route, theirs.status, theirs.body]).toEqual([route, 404, none.body]);
        expect([route, none.status]).toEqual([route, 404]);
      }
      const still = await api.get(`/api/agents/${ofA['agent_id'] ?? ''}`, { key: a.key });
      expect(still.body).toMatchObject({ name: 'shared name', state: 'running' });
      expect((await api.get('/api/v1/account', { key: a.key })).status).toBe(200);
    });

    it('cannot operate the installation, whatever they name: 403', async () => {
      for (const [route] of Object.entries(MATRIX).filter(([, row]) => row === 'operate')) {
        const [theirs, none] = [await callAs(b.key, route, ofA), await callAs(b.key, route, nothing())];
        expect([route, theirs.status, theirs.body]).toEqual([route, 403, none.body]);
        expect(theirs.body).toMatchObject({ detail: { requiredScope: 'operate' } });
      }
      const minted = await api.post('/api/v1/keys', { name: 'up', scopes: ['operate'] }, { key: b.key });
      expect([minted.status, codeOf(minted)]).toEqual([403, 'missing_scope']);
    });

    it('use the same names and external ids', async () => {
      const same = { name: 'shared name', templateId: 'blank', externalId: 'shared-external' };
      const created = await api.post<{ id: string }>('/api/agents', same, { key: b.key });
      expect(created.status).toBe(201);
      const found = await api.get<{ items: { id: string }[] }>('/api/agents?externalId=shared-external', {
        key: b.key,
      });
      expect(found.body.items.map(({ id }) => id)).toEqual([created.body.id]);
      const again = await api.post('/api/agents', same, { key: b.key });
      expect(again.body).toMatchObject({ detail: { agentId: created.body.id } });
    });

    it('use the same idempotency keys and conversations, each with its own answer', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const first = await api.post(
        '/api/v1/keys',
        { name: 'of A', scopes: ['read'] },
        { key: a.key, headers },
      );
      const other = await api.post(
        '/api/v1/keys',
        { name: 'of B', scopes: ['read'] },
        { key: b.key, headers },
      );
      expect([first.status, other.status]).toEqual([201, 201]);
      expect(other.headers.get('idempotent-replayed')).toBeNull();
      expect(other.body).toMatchObject({ name: 'of B', accountId: b.id });
      const agentOfB = await runningAgentOf(api, b.key);
      const chat = (id: string | undefined, key: string, message: string) =>
        api.post(`/api/agents/${id ?? ''}/chat`, { message, conversation_id: 'shared' }, { key });
      const answers = [await chat(ofA['agent_id'], a.key, 'to A'), await chat(agentOfB, b.key, 'to B')];
      expect(answers.map(({ body }) => body['conversation_id'])).toEqual(['shared', 'shared']);
      expect(answers.map(({ body }) => String(body['response']))).toEqual([
        expect.stringContaining('to A'),
        expect.stringContaining('to B'),
      ]);
    });

    it('list only what is their own, with a cursor of the other too', async () => {
      for (const path of ['/api/agents', '/api/v1/keys']) {
        const page = await api.get<{ items: { id: string }[]; nextCursor: string | null }>(
          `${path}?limit=1`,
          {
            key: a.key,
          },
        );
        const all = await api.get<{ items: { id: string }[] }>(`${path}?limit=200`, { key: a.key });
        const cursor = page.body.nextCursor === null ? '' : `&cursor=${page.body.nextCursor}`;
        for (const query of ['?limit=200', `?limit=200${cursor}`]) {
          const { body } = await api.get<{ items: { id: string }[] }>(path + query, { key: b.key });
          const ids = body.items.map(({ id }) => id);
          expect(all.body.items.filter(({ id }) => ids.includes(id))).toEqual([]);
        }
      }
    });

    it('see their own acts in the audit, and the operator sees that the accounts were opened', async () => {
      interface Audit {
        readonly items: readonly {
          readonly action: string;
          readonly resource: { readonly id: string };
          readonly actor: { readonly id: string };
        }[];
      }
      const audit = async (key: string, query = ''): Promise<Audit['items']> =>
        (await api.get<Audit>(`/api/v1/audit?limit=200${query}`, { key })).body.items;
      await eventually(
        async () => {
          const actions = (await audit(a.key)).map(({ action }) => action);
          for (const action of ['key.mint', 'agent.create', 'env.set', 'execution.submit'])
            expect(actions).toContain(action);
          const refused = await audit(b.key, '&action=access.refused');
          expect(refused.map(({ resource }) => resource.id)).toContain('GET /api/v1/operations/hosts');
          expect(refused.every(({ actor }) => actor.id === b.keyId)).toBe(true);
          const opened = await audit(stack().key, '&action=account.create');
          expect(opened.map(({ resource }) => resource.id)).toEqual(expect.arrayContaining([a.id, b.id]));
        },
        { timeoutMs: 10_000 },
      );
      const [ofAccountA, ofAccountB] = [await audit(a.key), await audit(b.key)];
      expect(JSON.stringify(ofAccountB)).not.toContain(a.id);
      expect(JSON.stringify(ofAccountB)).not.toContain(ofA['agent_id']);
      expect(ofAccountA.filter(({ action }) => action.startsWith('account.'))).toEqual([]);
    });
  });
};
