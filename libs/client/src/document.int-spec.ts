import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLS, OTHERS } from './every-method.fixture.js';
import { Berth } from './index.js';
import { ok, TestServer, type Received } from './server.fixture.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const PRINTS_DOCUMENT = fileURLToPath(new URL('../../../tools/openapi.mjs', import.meta.url));
/** Programs inside agents and terminals are no matter of this library; executions are read with `request`. */
const HIDDEN = new Set(['Inside an agent', 'Console']);
const WITHHELD = /^(GET|DELETE) \/api\/agents\/\{agent_id\}\/exec(\/|$)|^GET \/api\/webhooks\/\{agent_id\}$/;
/** What `followLogs` sends, what this library withholds, and the second name of a member. */
const NOT_SENT = new Set(['follow', 'detached', 'secret']);

let server: TestServer;
let document: OpenApiDocument;
const sent = new Map<string, Received>();

beforeAll(async () => {
  const options = { maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(process.execPath, [PRINTS_DOCUMENT], options);
  document = JSON.parse(stdout) as OpenApiDocument;
  server = await TestServer.start();
  server.answer = ok({ items: [], nextCursor: null, status: 'succeeded' });
  for (const [name, call] of Object.entries(CALLS)) {
    const at = server.received.length;
    const result = await call(server.client());
    if (name.includes('.download')) (result as { cancel(): void }).cancel();
    expect(server.received.length, name).toBe(at + 1);
    sent.set(name, server.received[at] as Received);
  }
});
afterAll(() => server.close());

const operations = (): { name: string; method: string; path: string; operation: Operation }[] =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...{ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, operation },
      })),
    )
    .filter(({ name, operation }) => !WITHHELD.test(name) && !operation.tags?.some((tag) => HIDDEN.has(tag)));

/** The members of the body of an operation. */
const membersOf = ({ requestBody }: Operation): string[] => {
  const { schema = {} } = Object.values(requestBody?.content ?? {})[0] ?? {};
  const named =
    schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  return Object.keys(named?.properties ?? {});
};

const bodyOf = ({ headers, body }: Received): string[] => {
  const type = headers['content-type'] ?? '';
  if (type === 'application/json') return Object.keys(JSON.parse(body.toString()) as object);
  return type.startsWith('multipart/')
    ? [...body.toString().matchAll(/ name="(\w+)"/g)].map(([, one]) => one ?? '')
    : [];
};

describe('the client', () => {
  it('has a method for every operation of the OpenAPI document, which can send each member and parameter', () => {
    const problems = operations().flatMap(({ name, method, path, operation }) => {
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      const found = [...sent.values()].filter((one) => one.method === method && pattern.test(one.path));
      if (found.length === 0) return [`no method sends ${name}`];
      const given = new Set(found.flatMap((one) => [...bodyOf(one), ...one.query.keys()]));
      const queried = operation.parameters?.filter((one) => one.in === 'query').map((one) => one.name) ?? [];
      return [...membersOf(operation), ...queried]
        .filter((member) => !given.has(member) && !NOT_SENT.has(member))
        .map((member) => `nothing sends ${member} of ${name}`);
    });
    expect(problems).toEqual([]);
    expect(operations().length).toBeGreaterThan(50);
  });

  it('is called here with every method that it has', () => {
    const methodsOf = (value: object, prefix: string): string[] => {
      const own = Object.entries(value).flatMap(([name, inner]) =>
        methodsOf(inner as object, `${prefix}${name}.`),
      );
      const type = Object.getPrototypeOf(value) as object;
      const named = Object.entries(Object.getOwnPropertyDescriptors(type))
        .filter(([name, { value: method }]) => name !== 'constructor' && typeof method === 'function')
        .map(([name]) => `${prefix}${name}`);
      return [...named, ...own];
    };
    const called = Object.keys(CALLS).filter((name) => !name.endsWith(' of bytes'));
    expect(new Set(methodsOf(new Berth({ apiKey: 'mk_a' }), ''))).toEqual(new Set([...called, ...OTHERS]));
  });

  it('sends its key with everything but an invoke', () => {
    const without = [...sent].filter(([, { headers }]) => headers.authorization === undefined);
    expect(without.map(([name]) => name)).toEqual(['webhooks.invoke']);
  });

  it('sends members under their HTTP names, null as null, and a POST without members without a body', async () => {
    expect(JSON.parse(String(sent.get('agents.update')?.body))).toEqual({
      ...{
        name: 'n',
        externalId: null,
        instructions: null,
        idleTtlSeconds: 0,
        labels: {},
        resources: { vcpus: 1 },
      },
    });
    expect(JSON.parse(String(sent.get('computers.actions')?.body))).toEqual({
      ...{ actions: [{ type: 'click', x: 1, y: 2 }], screenshot: true, scale: 0.5, stopOnError: false },
      acknowledged_safety_checks: [{ id: 's' }],
    });
    const at = server.received.length;
    await server.client().agents.stop('a', { drainSeconds: undefined });
    expect(server.received[at]?.body.length).toBe(0);
    expect(server.received[at]?.headers['content-type']).toBeUndefined();
  });
});
