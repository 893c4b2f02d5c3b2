import { accountsRequests, feedbackRequests } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { auditRequests } from '@berth/contracts/audit';
import { billingRequests } from '@berth/contracts/billing';
import { computersRequests } from '@berth/contracts/computers';
import { deliveryRequests, webhookRequests } from '@berth/contracts/delivery';
import { execRequests } from '@berth/contracts/exec';
import { filesRequests } from '@berth/contracts/files';
import { operationsRequests } from '@berth/contracts/operations';
import { runtimeRequests } from '@berth/contracts/runtime';
import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { DomainError, newId, type RequestDefinition } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aComputer, anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type Call, type TestGateway } from '../fixtures/gateway.fixture.js';
import { SchemaEdges, type Edge, type SchemaNode } from '../fixtures/schema-edges.fixture.js';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: SchemaNode;
}

interface Operation {
  readonly 'x-required-scope'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: SchemaNode }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
}

/** One request at an edge of one bound. */
interface Attempt {
  readonly title: string;
  readonly edge: Edge;
  readonly method: string;
  readonly path: string;
  readonly call: Call;
}

/**
 * The requests that a valid call sends to services, except lookups of the key, the agent and the computer. The services refuse them
 * immediately.
 */
const { authenticate: _authenticate, standing: _standing, ...keyRequests } = accountsRequests;
const { get: _get, ...agentRequests } = agentsRequests;
const { authorize: _authorize, ...hookRequests } = webhookRequests;
const { get: _getComputer, ...ofComputers } = computersRequests;
const REQUESTS: readonly RequestDefinition<never, never>[] = [
  keyRequests,
  agentRequests,
  auditRequests,
  billingRequests,
  ofComputers,
  feedbackRequests,
  deliveryRequests,
  hookRequests,
  execRequests,
  filesRequests,
  operationsRequests('accounts'),
  runtimeRequests,
].flatMap((requests) => Object.values(requests));

const refuse = (): never => {
  throw new DomainError('conflict', 'agent_stopped', 'The agent is stopped.');
};

let test: TestGateway;
let attempts: readonly Attempt[];

beforeAll(async () => {
  test = await startTestGateway();
  test.services.reset();
  for (const request of REQUESTS) test.services.on(request, refuse);
  const caller = { accountId: newId('acc'), tokenId: null, suspended: null };
  test.services.on(webhookRequests.authorize, () => caller);
  const document = JSON.parse((await test.call('GET', '/openapi.json')).text) as Document;
  const agentId = newId('agt');
  const computerId = newId('cmp');
  test.services.computers.set(computerId, aComputer({ id: computerId }));
  test.services.agents.set(agentId, anAgent({ id: agentId }));
  attempts = attemptsOf(document, {
    agent_id: agentId,
    computer_id: computerId,
    account_id: newId('acc'),
    delivery_id: newId('dlv'),
    execution_id: newId('exe'),
    id: newId('hst'),
    key: 'A',
  });
});
afterAll(() => test.stop());

const attemptsOf = (document: Document, ids: Readonly<Record<string, string>>): readonly Attempt[] => {
  const schemas = new SchemaEdges(document.components.schemas);
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([verb, { parameters = [], requestBody, ...operation }]) => {
      // The fake services issue no tokens of agents, and keys do not reach these routes.
      if (operation['x-required-scope'] === 'agent') return [];
      const method = verb.toUpperCase();
      const { 'application/json': body, 'multipart/form-data': form } = requestBody?.content ?? {};
      // What is wrong with an action depends on its form: the plans of actions have tests of their own.
      if (template.endsWith('/actions')) return [];
      // The gateway passes a form on while it reads it; its bound is one of the service `files`.
      if (form !== undefined) return [];
      const json = body?.schema;
      const base = { url: requestTo(template, ids, parameters, schemas), json: json && schemas.valid(json) };
      const attempt = (edge: Edge, change: Partial<Changes>): Attempt => {
        const { url, ...call } = { ...base, ...change };
        const title = `${method} ${template}: ${edge.bound} of ${edge.path}`;
        return { title, edge, method, path: url, call };
      };
      return [
        ...parameters.flatMap((parameter) =>
          schemas
            .edges(parameter.schema, parameter.name)
            .filter((edge) => isSendable(parameter, edge))
            .map((edge) => attempt(edge, withParameter(base.url, template, ids, parameter, edge))),
        ),
        ...(json === undefined ? [] : schemas.edges(json).map((edge) => attempt(edge, { json: edge.value }))),
      ];
    }),
  );
};

interface Changes {
  readonly url: string;
  readonly json: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The URL with its required query members. */
const requestTo = (
  template: string,
  ids: Readonly<Record<string, string>>,
  parameters: readonly Parameter[],
  schemas: SchemaEdges,
): string => {
  const required = parameters.filter((one) => one.in === 'query' && one.required === true);
  const query = required.map(({ name, schema }) => [name, String(schemas.valid(schema))]);
  return `${filled(template, ids)}?${new URLSearchParams(query).toString()}`;
};

const filled = (template: string, ids: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'x'));

const withParameter = (
  url: string,
  template: string,
  ids: Readonly<Record<string, string>>,
  { name, in: place }: Parameter,
  { value }: Edge,
): Partial<Changes> => {
  const text = String(value);
  if (place === 'header') return { headers: { [name]: text } };
  if (place === 'path') return { url: filled(template, { ...ids, [name]: text }) };
  const query = new URLSearchParams(url.split('?')[1]);
  query.set(name, text);
  return { url: `${filled(template, ids)}?${query.toString()}` };
};

/**
 * Whether a client can send the value there: some would change the path, are invalid in a header, or exceed the limit
 * of all headers.
 */
const isSendable = ({ in: place }: Parameter, { value }: Edge): boolean => {
  const text = String(value);
  if (encodeURIComponent(text).length > MAX_QUERY_CHARS) return false;
  return place === 'query' || (place === 'path' ? text !== '' : /^[ -~]+$/.test(text));
};

const MAX_QUERY_CHARS = 8_192;

const send = (attempt: Attempt) =>
  test.call(attempt.method, attempt.path, {
    ...attempt.call,
    key: test.services.key(['read', 'deploy', 'manage', 'computers', 'operate']),
  });

/** A body of this size is 413 before it is parsed, whatever it contains. */
const isTooLarge = ({ call }: Attempt): boolean =>
  call.json !== undefined && Buffer.byteLength(JSON.stringify(call.json)) > JSON_BODY_LIMIT;

describe('every bound in the OpenAPI document', () => {
  it('is known to this test', () => {
    const known = new Set(attempts.map(({ edge }) => edge.bound.replace('propertyNames.', '')));
    expect([...known].sort()).toEqual([
      'enum',
      'exclusiveMinimum',
      'maxItems',
      'maxLength',
      'maxProperties',
      'maximum',
      'minItems',
      'minLength',
      'minimum',
      'pattern',
      'required',
      'uniqueItems',
      'x-max-bytes',
      'x-max-utf16-units',
      'x-unique-by',
    ]);
  });

  it('accepts the value at the bound', async () => {
    // A cursor that no page returned is invalid whatever its length.
    for (const attempt of attempts.filter(({ edge }) => edge.isWithin && edge.path !== 'cursor')) {
      const { status, text } = await send(attempt);
      if (isTooLarge(attempt)) expect(status, attempt.title).toBe(413);
      else expect([400, 404, 405, 413], `${attempt.title}: ${text}`).not.toContain(status);
    }
  });

  it('refuses the value beyond the bound, and names its field', async () => {
    for (const attempt of attempts.filter(({ edge }) => !edge.isWithin)) {
      const { status, body, text } = await send(attempt);
      if (isTooLarge(attempt)) expect(status, attempt.title).toBe(413);
      else {
        expect(status, `${attempt.title}: ${text}`).toBe(400);
        const [field, ...others] = body.detail?.fields ?? [];
        expect(others, attempt.title).toEqual([]);
        // Some lists are validated as a whole.
        expect(`${attempt.edge.path}.`, attempt.title).toContain(`${field?.path}.`);
      }
    }
  });
});
