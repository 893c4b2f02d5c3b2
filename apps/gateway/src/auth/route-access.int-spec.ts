import { SCOPES, type Scope } from '@berth/contracts/accounts';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { declarationProblem } from '../http/declaration-check.js';

/** Who may call what, repeated on purpose: a changed declaration must be changed here too. */
const ROUTES: Readonly<Record<string, Scope | 'anyone'>> = {
  'GET /health': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /docs': 'anyone',
  'GET /docs/:file': 'anyone',
  'GET /api/templates': 'anyone',
  'POST /api/v1/keys': 'manage',
  'GET /api/v1/keys': 'manage',
  'DELETE /api/v1/keys/:key_id': 'manage',
  'GET /api/v1/account': 'read',
  'GET /api/v1/audit': 'manage',
  'PUT /api/v1/end-users/:external_id': 'manage',
  'GET /api/v1/end-users': 'read',
  'GET /api/v1/end-users/:external_id': 'read',
  'DELETE /api/v1/end-users/:external_id': 'manage',
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
  'POST /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts': 'operate',
  'GET /api/v1/operations/accounts/:account_id': 'operate',
  'PUT /api/v1/operations/accounts/:account_id': 'operate',
  'POST /api/v1/operations/accounts/:account_id/keys': 'operate',
  'GET /api/v1/operations/projections': 'operate',
  'POST /api/v1/operations/projections/:name/rebuild': 'operate',
  'GET /api/v1/operations/dead-letters': 'operate',
  'POST /api/v1/operations/dead-letters/:id/replay': 'operate',
  'DELETE /api/v1/operations/dead-letters/:id': 'operate',
  'GET /api/v1/operations/hosts': 'operate',
  'POST /api/v1/operations/hosts/:id/drain': 'operate',
  'POST /api/v1/operations/hosts/:id/resume': 'operate',
  'DELETE /api/v1/operations/hosts/:id': 'operate',
};

/** Without a body, these need `deploy` too. */
const NEED_DEPLOY_TOO: ReadonlySet<string> = new Set(['POST /api/v1/end-users/:external_id/tokens']);

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => test.services.reset());

/** Ids that no service knows, so that a call that gets through has no effect. */
const pathOf = (pattern: string): string =>
  pattern
    .replace(':agent_id', newId('agt'))
    .replace(':execution_id', newId('exe'))
    .replace(':deployment_id', newId('dep'))
    .replace(':key_id', newId('key'))
    .replace(':account_id', newId('acc'))
    .replaceAll(/:\w+/g, 'x');

const call = async (route: string, key?: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  return test.call(method, pathOf(pattern), key === undefined ? {} : { key });
};

describe('the router', () => {
  it('has only routes that declare their callers and the resources in their paths', () => {
    expect(test.gateway.routes.length).toBeGreaterThan(0);
    for (const { method, path, rules } of test.gateway.routes)
      expect(declarationProblem(path, rules), `${method} ${path}`).toBeUndefined();
  });

  it('has exactly the routes of the matrix above', () => {
    const routes = test.gateway.routes.map(({ method, path }) => `${method} ${path}`);
    expect(routes.sort()).toEqual(Object.keys(ROUTES).sort());
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
        const isAllowed = needed === 'anyone' || needed === 'read' || needed === held;
        expect([route, status === 403], `status ${status}`).toEqual([route, !isAllowed]);
        if (!isAllowed) expect(body.detail).toMatchObject({ code: 'missing_scope', requiredScope: needed });
      }
    },
  );

  it.each([undefined, `eu_${'a'.repeat(43)}`, `at_${'a'.repeat(43)}`, `wh_${'a'.repeat(43)}`])(
    'is 401 with the credential %s, which nobody has, unless anyone may call it',
    async (token) => {
      for (const [route, needed] of Object.entries(ROUTES)) {
        const { status } = await call(route, token);
        expect([route, status === 401], `status ${status}`).toEqual([route, needed !== 'anyone']);
      }
    },
  );

  it('is 401 with an unknown credential in ?token=, which only WebSockets accept', async () => {
    const key = test.services.key([...SCOPES]);
    for (const { method, path, rules } of test.gateway.routes) {
      const header = rules?.tokenInQuery === true ? {} : { key };
      const { status } = await test.call(method, `${pathOf(path)}?token=eu_${'a'.repeat(43)}`, header);
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });
});
