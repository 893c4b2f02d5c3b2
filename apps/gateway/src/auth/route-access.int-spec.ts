import { SCOPES, type Scope } from '@berth/contracts/accounts';
import { TOKEN_SCOPES, type TokenScope } from '@berth/contracts/end-users';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { declarationProblem } from '../http/declaration-check.js';

/** Who may call what, repeated on purpose: a changed declaration must be changed here too. */
const ROUTES: Readonly<Record<string, Scope | 'anyone' | 'webhook'>> = {
  'GET /health': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /docs': 'anyone',
  'GET /docs/:file': 'anyone',
  'GET /api/templates': 'anyone',
  'POST /api/v1/keys': 'manage',
  'GET /api/v1/keys': 'manage',
  'DELETE /api/v1/keys/:key_id': 'manage',
  'GET /api/v1/account': 'read',
  'GET /api/v1/llm-calls': 'read',
  'GET /api/v1/audit': 'manage',
  'GET /api/v1/usage': 'read',
  'GET /api/v1/usage/daily': 'read',
  'PUT /api/v1/end-users/:external_id': 'manage',
  'GET /api/v1/end-users': 'read',
  'GET /api/v1/end-users/:external_id': 'read',
  'POST /api/v1/end-users/:external_id/agents': 'manage',
  'GET /api/v1/end-users/:external_id/agents': 'read',
  'POST /api/v1/end-users/:external_id/suspend': 'manage',
  'POST /api/v1/end-users/:external_id/resume': 'manage',
  'DELETE /api/v1/end-users/:external_id': 'manage',
  'PUT /api/v1/end-users/:external_id/policy': 'manage',
  'GET /api/v1/end-users/:external_id/policy': 'manage',
  'DELETE /api/v1/end-users/:external_id/policy': 'manage',
  'PUT /api/v1/end-user-defaults': 'manage',
  'GET /api/v1/end-user-defaults': 'manage',
  'DELETE /api/v1/end-user-defaults': 'manage',
  'POST /api/v1/end-users/:external_id/tokens': 'manage',
  'DELETE /api/v1/end-users/:external_id/tokens': 'manage',
  'POST /api/agents': 'deploy',
  'GET /api/agents': 'read',
  'GET /api/agents/:agent_id': 'read',
  'DELETE /api/agents/:agent_id': 'deploy',
  'POST /api/agents/:agent_id/start': 'deploy',
  'POST /api/agents/:agent_id/stop': 'deploy',
  'POST /api/agents/:agent_id/sleep': 'deploy',
  'POST /api/agents/:agent_id/restart': 'deploy',
  'GET /api/agents/:agent_id/stats': 'read',
  'POST /api/deploy': 'deploy',
  'GET /api/agents/:agent_id/deployments': 'read',
  'GET /api/agents/:agent_id/deployments/:deployment_id': 'read',
  'GET /api/agents/:agent_id/logs': 'read',
  'GET /api/agents/:agent_id/schedules': 'read',
  'GET /api/agents/:agent_id/env': 'read',
  'PUT /api/agents/:agent_id/env/:key': 'deploy',
  'DELETE /api/agents/:agent_id/env/:key': 'deploy',
  'POST /api/agents/:agent_id/env/reload': 'deploy',
  'POST /api/agents/:agent_id/chat': 'deploy',
  'GET /api/agents/:agent_id/files/list': 'deploy',
  'GET /api/agents/:agent_id/files/download': 'deploy',
  'POST /api/agents/:agent_id/files/mkdir': 'deploy',
  'POST /api/agents/:agent_id/files/move': 'deploy',
  'DELETE /api/agents/:agent_id/files/delete': 'deploy',
  'POST /api/agents/:agent_id/files/upload': 'deploy',
  'PUT /api/agents/:agent_id/files/write': 'deploy',
  'POST /api/agents/:agent_id/exec': 'deploy',
  'GET /api/agents/:agent_id/exec': 'deploy',
  'GET /api/agents/:agent_id/exec/:execution_id': 'deploy',
  'DELETE /api/agents/:agent_id/exec/:execution_id': 'deploy',
  'GET /api/agents/:agent_id/exec/:execution_id/output': 'deploy',
  'GET /api/agents/:agent_id/console': 'deploy',
  'POST /api/webhooks/:agent_id': 'webhook',
  'GET /api/webhooks/:agent_id/token': 'deploy',
  'POST /api/webhooks/:agent_id/token/rotate': 'manage',
  'GET /api/webhooks/:agent_id/deliveries': 'deploy',
  'POST /api/webhooks/:agent_id/deliveries/:delivery_id/redeliver': 'deploy',
  'POST /api/v1/computers': 'computers',
  'GET /api/v1/computers': 'computers',
  'GET /api/v1/computers/usage': 'computers',
  'GET /api/v1/computers/:computer_id': 'computers',
  'DELETE /api/v1/computers/:computer_id': 'computers',
  'POST /api/v1/computers/:computer_id/wake': 'computers',
  'POST /api/v1/computers/:computer_id/sleep': 'computers',
  'POST /api/v1/computers/:computer_id/actions': 'computers',
  'GET /api/v1/computers/:computer_id/screenshot': 'computers',
  'POST /api/v1/computers/:computer_id/exec': 'computers',
  'GET /api/v1/computers/:computer_id/files': 'computers',
  'PUT /api/v1/computers/:computer_id/files': 'computers',
  'GET /api/v1/computers/:computer_id/files/list': 'computers',
  'POST /api/v1/computers/:computer_id/viewer': 'computers',
  'POST /api/v1/computers/:computer_id/sessions/close': 'computers',
  'GET /api/v1/computers/:computer_id/sessions': 'computers',
  'POST /api/v1/feedback': 'read',
  'GET /api/v1/operations/feedback': 'operate',
  'POST /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts/:account_id': 'operate',
  'PUT /api/v1/operations/accounts/:account_id': 'operate',
  'POST /api/v1/operations/accounts/:account_id/credits': 'operate',
  'POST /api/v1/operations/accounts/:account_id/keys': 'operate',
  'GET /api/v1/operations/projections': 'operate',
  'GET /api/v1/operations/usage-recount': 'operate',
  'POST /api/v1/operations/projections/:name/rebuild': 'operate',
  'GET /api/v1/operations/dead-letters': 'operate',
  'POST /api/v1/operations/dead-letters/:id/replay': 'operate',
  'DELETE /api/v1/operations/dead-letters/:id': 'operate',
  'GET /api/v1/operations/hosts': 'operate',
  'POST /api/v1/operations/hosts/:id/drain': 'operate',
  'POST /api/v1/operations/hosts/:id/resume': 'operate',
  'DELETE /api/v1/operations/hosts/:id': 'operate',
};

/** The routes that only the token of the agent itself reaches; repeated on purpose. */
const AGENT_ROUTES: readonly string[] = ['GET /agent/v1/self', 'PUT /agent/v1/schedules'];

/** The routes that a token of an end user reaches, and the scope that it needs; repeated on purpose. */
const TOKEN_ROUTES: Readonly<Record<string, TokenScope | 'any'>> = {
  'GET /api/agents/:agent_id': 'any',
  'POST /api/agents/:agent_id/chat': 'chat',
  'GET /api/agents/:agent_id/files/list': 'files',
  'GET /api/agents/:agent_id/files/download': 'files',
  'POST /api/agents/:agent_id/files/mkdir': 'files',
  'POST /api/agents/:agent_id/files/move': 'files',
  'DELETE /api/agents/:agent_id/files/delete': 'files',
  'POST /api/agents/:agent_id/files/upload': 'files',
  'PUT /api/agents/:agent_id/files/write': 'files',
  'GET /api/agents/:agent_id/logs': 'logs',
  'GET /api/agents/:agent_id/console': 'console',
};

/** Without a body, these need `deploy` too. */
const NEED_DEPLOY_TOO: ReadonlySet<string> = new Set([
  'POST /api/v1/end-users/:external_id/tokens',
  'POST /api/v1/end-users/:external_id/agents',
]);

/** Webhooks have tokens of their own, in a header of their own; a token of another kind is refused, a key is ignored. */
const isUnauthenticated = (declared: string, credential: string | undefined): boolean => {
  const needed = ROUTES[declared];
  return needed === 'webhook' ? /^(eu|at|wh)_/.test(credential ?? '') : needed !== 'anyone';
};

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => test.services.reset());

/** Ids that no service knows, so that a call that gets through has no effect. */
const pathOf = (pattern: string, agentId: string = newId('agt')): string =>
  pattern
    .replace(':agent_id', agentId)
    .replace(':computer_id', newId('cmp'))
    .replace(':delivery_id', newId('dlv'))
    .replace(':execution_id', newId('exe'))
    .replace(':deployment_id', newId('dep'))
    .replace(':key_id', newId('key'))
    .replace(':account_id', newId('acc'))
    .replaceAll(/:\w+/g, 'x');

const call = async (route: string, key?: string, agentId?: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  return test.call(method, pathOf(pattern, agentId), key === undefined ? {} : { key });
};

/** Every route, and the `HEAD` that comes with each `GET`. */
const routesWithHead = (): readonly (readonly [route: string, asDeclared: string])[] =>
  Object.keys(ROUTES).flatMap((route) =>
    route.startsWith('GET ')
      ? [[route, route] as const, [route.replace('GET', 'HEAD'), route] as const]
      : [[route, route] as const],
  );

describe('the router', () => {
  it('has only routes that declare their callers and the resources in their paths', () => {
    expect(test.gateway.routes.length).toBeGreaterThan(0);
    for (const { method, path, rules } of test.gateway.routes)
      expect(declarationProblem(path, rules), `${method} ${path}`).toBeUndefined();
  });

  it('has exactly the routes of the matrix above', () => {
    const routes = test.gateway.routes.map(({ method, path }) => `${method} ${path}`);
    expect(routes.sort()).toEqual([...Object.keys(ROUTES), ...AGENT_ROUTES].sort());
  });
});

describe('the routes for agents', () => {
  it('are 401 without the token of an agent, and with a key or a token of an end user of any scope', async () => {
    const agentId = newId('agt');
    const others = [test.services.key([...SCOPES]), test.services.token(TOKEN_SCOPES, agentId)];
    for (const credential of [undefined, ...others, `at_${'a'.repeat(43)}`]) {
      for (const route of AGENT_ROUTES)
        expect([route, (await call(route, credential, agentId)).status]).toEqual([route, 401]);
    }
  });
});

describe('every route', () => {
  it.each(SCOPES)(
    'refuses a key that holds only %s with 403, unless that is the scope it needs',
    async (held) => {
      const key = test.services.key([held]);
      for (const [route, needed] of Object.entries(ROUTES)) {
        const { status, body } = await call(route, key);
        if (NEED_DEPLOY_TOO.has(route) && held === needed) {
          expect(body.detail).toMatchObject({ code: 'missing_scope', requiredScope: 'deploy' });
          continue;
        }
        const isAllowed = ['anyone', 'webhook', 'read', held].includes(needed);
        expect([route, status === 403], `status ${status}`).toEqual([route, !isAllowed]);
        if (!isAllowed) expect(body.detail).toMatchObject({ code: 'missing_scope', requiredScope: needed });
      }
    },
  );

  it.each([
    undefined,
    'x',
    'mk_x',
    'eu_x',
    `eu_${'a'.repeat(43)}`,
    `at_${'a'.repeat(43)}`,
    `wh_${'a'.repeat(43)}`,
    `mk_${'a'.repeat(43)}`,
  ])('is 401 with the credential %s, which does not exist, unless anyone may call it', async (token) => {
    for (const [route, declared] of routesWithHead()) {
      const { status } = await call(route, token);
      expect([route, status === 401], `status ${status}`).toEqual([
        route,
        isUnauthenticated(declared, token),
      ]);
    }
  });

  const expectUnauthenticated = async (credential: string, agentId: string): Promise<void> => {
    for (const [route, declared] of routesWithHead()) {
      const { status } = await call(route, credential, agentId);
      expect([route, status === 401], `status ${status}`).toEqual([
        route,
        isUnauthenticated(declared, credential),
      ]);
    }
  };

  it('is 401 with a revoked key or token, unless anyone may call it', async () => {
    const agentId = newId('agt');
    for (const credential of [test.services.key([...SCOPES]), test.services.token(TOKEN_SCOPES, agentId)]) {
      test.services.revoke(credential);
      await expectUnauthenticated(credential, agentId);
    }
  });

  it('is 401 with the valid token of an agent, even for the agent itself, unless anyone may call it', async () => {
    const agentId = newId('agt');
    const token = test.services.agentToken(agentId);
    await expectUnauthenticated(token, agentId);
    for (const route of AGENT_ROUTES)
      expect([route, (await call(route, token, agentId)).status]).not.toEqual([route, 401]);
  });

  it.each(TOKEN_SCOPES.map((scope) => [scope]))(
    'refuses a token that has only %s with 403, unless that is the scope it needs, and every other agent with 404',
    async (scope) => {
      const agentId = newId('agt');
      const token = test.services.token([scope], agentId);
      for (const [route, declared] of routesWithHead()) {
        const needed = TOKEN_ROUTES[declared];
        const isAllowed = ROUTES[declared] === 'anyone' || needed === 'any' || needed === scope;
        const own = await call(route, token, agentId);
        expect([route, own.status === 403], `status ${own.status}`).toEqual([route, !isAllowed]);
        if (!isAllowed && !route.startsWith('HEAD')) expect(own.body.detail?.code).toBe('token_scope');
        if (needed === undefined) continue;
        const other = await call(route, token);
        expect([route, other.status]).toEqual([route, isAllowed ? 404 : 403]);
      }
    },
  );

  it('refuses a token that has every scope with 403, unless it is one of those for tokens', async () => {
    const agentId = newId('agt');
    const token = test.services.token(TOKEN_SCOPES, agentId);
    for (const [route, needed] of Object.entries(ROUTES)) {
      const { status } = await call(route, token, agentId);
      const isAllowed = needed === 'anyone' || route in TOKEN_ROUTES;
      expect([route, status === 403], `status ${status}`).toEqual([route, !isAllowed]);
      expect([route, status]).not.toEqual([route, 401]);
    }
  });

  it('is 401 with an unknown credential in ?token=, which only WebSockets accept', async () => {
    const key = test.services.key([...SCOPES]);
    for (const { method, path, rules } of test.gateway.routes) {
      const header = rules?.tokenInQuery === true ? {} : { key };
      const { status } = await test.call(method, `${pathOf(path)}?token=eu_${'a'.repeat(43)}`, header);
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });
});
