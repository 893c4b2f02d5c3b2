import { Validator } from '@seriousme/openapi-schema-validator';
import type { Scope } from '@berth/contracts/accounts';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

interface TextSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: TextSchema;
}

interface Operation {
  /** `agent`: the token of the agent itself, and no key. */
  readonly 'x-required-scope'?: Scope | 'public' | 'agent';
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: TextSchema;
  }[];
  readonly requestBody?: unknown;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Record<string, unknown> }>>;
  };
}

let test: TestGateway;
let document: Document;
let operations: readonly { method: string; path: string; operation: Operation }[];

beforeAll(async () => {
  test = await startTestGateway();
  const { status, headers, text } = await test.call('GET', '/openapi.json');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  document = JSON.parse(text) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});
afterAll(() => test.stop());
beforeEach(() => test.services.reset());

const fill = (path: string): string =>
  path
    .replace('{agent_id}', newId('agt'))
    .replace('{computer_id}', newId('cmp'))
    .replace(/\{\w+\}/g, 'x');

/** Paths of files are validated by the guest, which has its own codes. */
const isText = ({ in: place, name, schema }: Parameter): boolean =>
  place === 'query' &&
  name !== 'path' &&
  schema?.type === 'string' &&
  !('enum' in schema || 'format' in schema);

const textsOfQueries = (): readonly { method: string; path: string; parameter: Parameter }[] =>
  operations.flatMap(({ method, path, operation }) =>
    (operation.parameters ?? []).filter(isText).map((parameter) => ({ method, path, parameter })),
  );

describe('/openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(JSON.stringify(document)).not.toContain('nullable');
  });

  it('has no dangling references', () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
  });

  it('has every endpoint of this service', () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /api/agents/{agent_id}',
      'DELETE /api/agents/{agent_id}/env/{key}',
      'DELETE /api/agents/{agent_id}/exec/{execution_id}',
      'DELETE /api/agents/{agent_id}/files/delete',
      'DELETE /api/v1/computers/{computer_id}',
      'DELETE /api/v1/end-user-defaults',
      'DELETE /api/v1/end-users/{external_id}',
      'DELETE /api/v1/end-users/{external_id}/policy',
      'DELETE /api/v1/end-users/{external_id}/tokens',
      'DELETE /api/v1/keys/{key_id}',
      'DELETE /api/v1/operations/dead-letters/{id}',
      'DELETE /api/v1/operations/hosts/{id}',
      'GET /agent/v1/self',
      'GET /api/agents',
      'GET /api/agents/{agent_id}',
      'GET /api/agents/{agent_id}/console',
      'GET /api/agents/{agent_id}/deployments',
      'GET /api/agents/{agent_id}/deployments/{deployment_id}',
      'GET /api/agents/{agent_id}/env',
      'GET /api/agents/{agent_id}/exec',
      'GET /api/agents/{agent_id}/exec/{execution_id}',
      'GET /api/agents/{agent_id}/exec/{execution_id}/output',
      'GET /api/agents/{agent_id}/files/download',
      'GET /api/agents/{agent_id}/files/list',
      'GET /api/agents/{agent_id}/logs',
      'GET /api/agents/{agent_id}/schedules',
      'GET /api/agents/{agent_id}/stats',
      'GET /api/templates',
      'GET /api/v1/account',
      'GET /api/v1/audit',
      'GET /api/v1/computers',
      'GET /api/v1/computers/usage',
      'GET /api/v1/computers/{computer_id}',
      'GET /api/v1/computers/{computer_id}/files',
      'GET /api/v1/computers/{computer_id}/files/list',
      'GET /api/v1/computers/{computer_id}/screenshot',
      'GET /api/v1/computers/{computer_id}/sessions',
      'GET /api/v1/end-user-defaults',
      'GET /api/v1/end-users',
      'GET /api/v1/end-users/{external_id}',
      'GET /api/v1/end-users/{external_id}/agents',
      'GET /api/v1/end-users/{external_id}/policy',
      'GET /api/v1/keys',
      'GET /api/v1/llm-calls',
      'GET /api/v1/operations/accounts',
      'GET /api/v1/operations/accounts/{account_id}',
      'GET /api/v1/operations/dead-letters',
      'GET /api/v1/operations/feedback',
      'GET /api/v1/operations/hosts',
      'GET /api/v1/operations/projections',
      'GET /api/v1/operations/usage-recount',
      'GET /api/v1/usage',
      'GET /api/v1/usage/daily',
      'GET /api/webhooks/{agent_id}/deliveries',
      'GET /api/webhooks/{agent_id}/token',
      'GET /health',
      'POST /api/agents',
      'POST /api/agents/{agent_id}/chat',
      'POST /api/agents/{agent_id}/env/reload',
      'POST /api/agents/{agent_id}/exec',
      'POST /api/agents/{agent_id}/files/mkdir',
      'POST /api/agents/{agent_id}/files/move',
      'POST /api/agents/{agent_id}/files/upload',
      'POST /api/agents/{agent_id}/restart',
      'POST /api/agents/{agent_id}/sleep',
      'POST /api/agents/{agent_id}/start',
      'POST /api/agents/{agent_id}/stop',
      'POST /api/deploy',
      'POST /api/v1/computers',
      'POST /api/v1/computers/{computer_id}/actions',
      'POST /api/v1/computers/{computer_id}/exec',
      'POST /api/v1/computers/{computer_id}/sessions/close',
      'POST /api/v1/computers/{computer_id}/sleep',
      'POST /api/v1/computers/{computer_id}/viewer',
      'POST /api/v1/computers/{computer_id}/wake',
      'POST /api/v1/end-users/{external_id}/agents',
      'POST /api/v1/end-users/{external_id}/resume',
      'POST /api/v1/end-users/{external_id}/suspend',
      'POST /api/v1/end-users/{external_id}/tokens',
      'POST /api/v1/feedback',
      'POST /api/v1/keys',
      'POST /api/v1/operations/accounts',
      'POST /api/v1/operations/accounts/{account_id}/credits',
      'POST /api/v1/operations/accounts/{account_id}/keys',
      'POST /api/v1/operations/dead-letters/{id}/replay',
      'POST /api/v1/operations/hosts/{id}/drain',
      'POST /api/v1/operations/hosts/{id}/resume',
      'POST /api/v1/operations/projections/{name}/rebuild',
      'POST /api/webhooks/{agent_id}',
      'POST /api/webhooks/{agent_id}/deliveries/{delivery_id}/redeliver',
      'POST /api/webhooks/{agent_id}/token/rotate',
      'PUT /agent/v1/schedules',
      'PUT /api/agents/{agent_id}/env/{key}',
      'PUT /api/agents/{agent_id}/files/write',
      'PUT /api/v1/computers/{computer_id}/files',
      'PUT /api/v1/end-user-defaults',
      'PUT /api/v1/end-users/{external_id}',
      'PUT /api/v1/end-users/{external_id}/policy',
      'PUT /api/v1/operations/accounts/{account_id}',
    ]);
  });

  it('describes the validation of bodies and queries', () => {
    const { schemas } = document.components;
    expect(schemas['CreateAgentBody']?.properties).toMatchObject({
      name: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9 _@.:+-]+$' },
      externalId: { type: ['string', 'null'] },
      labels: { type: ['object', 'null'], maxProperties: 64 },
      resources: { anyOf: [{ $ref: '#/components/schemas/ResourcesBody' }, { type: 'null' }] },
    });
    const logs = document.paths['/api/agents/{agent_id}/logs']?.['get'];
    expect(logs?.parameters?.map(({ name }) => name).sort()).toEqual([
      'agent_id',
      'cursor',
      'follow',
      'level',
      'limit',
      'since',
      'source',
    ]);
  });

  it('describes the rules for names in the object forms of env and labels', () => {
    const name = { minLength: 1, maxLength: 128, pattern: '^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]*$' };
    const env = { type: 'object', maxProperties: 256, propertyNames: name };
    const { schemas } = document.components;
    expect(schemas['CreateAgentBody']?.properties?.['env']).toMatchObject({
      anyOf: [
        {
          oneOf: [
            { type: 'array', maxItems: 256 },
            { ...env, additionalProperties: { maxLength: 32_768 } },
          ],
        },
        { type: 'null' },
      ],
    });
    expect(schemas['EnvVarBody']?.properties?.['key']).toMatchObject(name);
    expect(schemas['CreateAgentBody']?.properties?.['labels']).toMatchObject({
      propertyNames: { maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]*$' },
      additionalProperties: { maxLength: 256 },
    });
    expect(schemas['SubmitBody']?.properties?.['env']).toMatchObject({
      propertyNames: name,
      maxProperties: 64,
    });
    const put = document.paths['/api/agents/{agent_id}/env/{key}']?.['put'];
    expect(put?.parameters?.find((parameter) => parameter.name === 'key')?.schema).toMatchObject(name);
  });

  it('describes the maximum length of every query text, and longer ones are refused', async () => {
    const key = test.services.key(['read', 'deploy', 'manage', 'computers', 'operate']);
    const refused: string[] = [];
    for (const { method, path, parameter } of textsOfQueries()) {
      const { name, schema } = parameter;
      expect(schema?.maxLength, `${method} ${path} ${name}`).toBeGreaterThan(0);
      const query = `${name}=${'x'.repeat((schema?.maxLength ?? 0) + 1)}`;
      const { status, body } = await test.call(method, `${fill(path)}?${query}`, { key });
      // The agent in the path is looked up first.
      expect([404, 400], `${method} ${path} ${name}`).toContain(status);
      if (status === 400) expect(body.detail?.fields?.map((field) => field.path)).toEqual([name]);
      refused.push(name);
    }
    const names = [
      ...['actor', 'agentId', 'computerId', 'cursor', 'externalId', 'externalIdPrefix', 'externalUserId'],
      ...['label', 'name', 'resource', 'tag'],
    ];
    expect([...new Set(refused)].sort()).toEqual(names);
  });

  it('lists 408 on every operation with a body', () => {
    for (const { method, path, operation } of operations) {
      const takesBody = operation.requestBody !== undefined || method === 'POST';
      expect(operation.responses['408'] !== undefined, `${method} ${path}`).toBe(takesBody);
    }
  });

  it('describes the format of Idempotency-Key, and others are refused', async () => {
    const posts = operations.filter(({ method }) => method === 'POST');
    for (const { operation } of posts) {
      const header = operation.parameters?.find(({ name }) => name === 'Idempotency-Key');
      expect(header?.schema).toMatchObject({ minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' });
    }
    for (const bad of ['x'.repeat(256), 'ü']) {
      const { status, body } = await test.call('POST', '/api/agents', {
        key: test.services.key(),
        headers: { 'idempotency-key': bad },
        json: { name: 'a', templateId: 'echo' },
      });
      expect([status, body.detail?.fields?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
    }
  });

  it('describes errors with a literal detail exactly, and the smaller response of older guests', () => {
    const responses = (method: string, path = ''): string =>
      JSON.stringify(document.paths[`/api/agents/{agent_id}/exec${path}`]?.[method]?.responses);
    const literal = (detail: unknown): string => `{"detail":{"enum":[${JSON.stringify(detail)}]}}`;
    for (const method of ['get', 'delete'])
      expect(responses(method, '/{execution_id}')).toContain(literal('Execution not found'));
    const submitted = responses('post');
    expect(submitted).toContain(literal('unsupported: outdated vm. Please use a new agent.'));
    for (const known of [
      { code: 'vm_not_ready', state: 'starting', execution_started: false },
      { code: 'guest_command_unavailable', execution_started: false },
    ])
      expect(submitted).toContain(literal(known));
    expect(JSON.stringify(document)).not.toMatch(/execution_not_found|detached_unsupported/);
    expect(document.components.schemas['AttachedResult']).toMatchObject({
      anyOf: [{}, { required: ['exitCode', 'stdout', 'stderr'] }],
    });
  });

  it.each(['start', 'stop', 'sleep', 'restart'])('lists no error of agent states on %s', (transition) => {
    const { responses } = document.paths[`/api/agents/{agent_id}/${transition}`]?.['post'] ?? {};
    expect(responses?.['409']).toMatchObject({ description: expect.stringContaining('idempotency') });
    expect(JSON.stringify(responses)).not.toMatch(/agent_(deploying|failed|stopped)/);
  });

  it.each([
    ['post', 'move', '404', 'path_not_found'],
    ['post', 'upload', '400', 'not_a_directory'],
    ['post', 'upload', '429', 'too_many_transfers'],
    ['get', 'download', '429', 'too_many_transfers'],
    ['put', 'write', '403', 'not_permitted'],
  ])('lists on %s …/files/%s the error %s %s', (method, route, status, code) => {
    const responses = document.paths[`/api/agents/{agent_id}/files/${route}`]?.[method]?.responses;
    expect(JSON.stringify(responses?.[status])).toContain(`\`${code}\``);
  });

  it('documents every status that any endpoint may have', () => {
    for (const { method, path, operation } of operations) {
      const isPublic = operation['x-required-scope'] === 'public';
      expect(Object.keys(operation.responses), `${method} ${path}`).toEqual(
        expect.arrayContaining([...(isPublic ? [] : ['401']), '500', '503', '504']),
      );
      if (method === 'POST')
        expect(operation.parameters?.map(({ name }) => name)).toContain('Idempotency-Key');
    }
  });
});

/** Without a body; the matrix of routes in `auth` has their scopes. */
const NEED_DEPLOY_TOO = new Set([
  'POST /api/v1/end-users/{external_id}/agents',
  'POST /api/v1/end-users/{external_id}/tokens',
]);

describe('every endpoint', () => {
  it('requires a key unless it is public', async () => {
    for (const { method, path, operation } of operations) {
      const { status } = await test.call(method, fill(path));
      expect(status === 401, `${method} ${path} returned ${status}`).toBe(
        operation['x-required-scope'] !== 'public',
      );
    }
  });

  it.each(['deploy', 'manage', 'computers', 'operate'] as const)(
    'refuses a key that holds only %s if it needs another scope',
    async (held) => {
      const key = test.services.key(['read', held]);
      for (const { method, path, operation } of operations) {
        if (NEED_DEPLOY_TOO.has(`${method} ${path}`)) continue;
        const scope = operation['x-required-scope'];
        if (scope === 'agent') continue;
        const { status, body } = await test.call(method, fill(path), { key });
        const lacks = scope !== 'public' && scope !== 'read' && scope !== held;
        expect(status === 403, `${method} ${path} returned ${status}`).toBe(lacks);
        if (lacks) expect(body.detail).toMatchObject({ code: 'missing_scope', requiredScope: scope });
      }
    },
  );
});
