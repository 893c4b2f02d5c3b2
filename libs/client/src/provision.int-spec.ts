import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceConflictError } from './index.js';
import { json, ok, rejection, TestServer, type Answer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const WANTED = {
  externalId: 'x',
  name: 'n',
  template: 'echo',
  instructions: 'Be brief.',
  idleTtlSeconds: 60,
};
const MINE = { id: 'agt_1', externalId: 'x' };
const NONE = { items: [], nextCursor: null };

const taken =
  (code: string): Answer =>
  (_, response) =>
    json(response, 409, { detail: { code, message: 'Taken.', agentId: 'agt_1' } });

/** Answers searches with `lists`, one after the other, and everything else with `others`. */
const serves = (lists: readonly unknown[], others: Readonly<Record<string, Answer>>): void => {
  let searches = 0;
  server.answer = (request, response) => {
    if (request.method === 'GET' && request.path === '/api/agents')
      return json(response, 200, lists[Math.min(searches++, lists.length - 1)]);
    return others[`${request.method} ${request.path}`]?.(request, response);
  };
};

const sent = (): string[] => server.received.map(({ method, path }) => `${method} ${path}`);

describe('provision', () => {
  it('returns the agent with the external id, and creates nothing', async () => {
    serves([{ items: [{ id: 'other', externalId: 'X' }, MINE], nextCursor: null }], {});
    expect(await server.client().agents.provision(WANTED)).toEqual(MINE);
    expect(sent()).toEqual(['GET /api/agents']);
    expect(server.received[0]?.query.get('externalId')).toBe('x');
  });

  it('creates it where there is none, with its template as templateId', async () => {
    serves([NONE], { 'POST /api/agents': ok(MINE, 201) });
    expect(await server.client().agents.provision({ ...WANTED, labels: { a: 'b' } })).toEqual(MINE);
    expect(JSON.parse(String(server.received[1]?.body))).toEqual({
      ...{ externalId: 'x', name: 'n', templateId: 'echo', instructions: 'Be brief.', idleTtlSeconds: 60 },
      labels: { a: 'b' },
    });
    expect(server.received[1]?.headers['idempotency-key']).toEqual(expect.any(String));
  });

  it.each(['external_id_taken', 'agent_name_taken'])('returns the winner after a 409 %s', async (code) => {
    serves([NONE, { items: [MINE], nextCursor: null }], { 'POST /api/agents': taken(code) });
    expect(await server.client().agents.provision(WANTED)).toEqual(MINE);
  });

  it('looks again until the agent that the 409 names is seen', async () => {
    let reads = 0;
    serves([NONE], {
      'POST /api/agents': taken('external_id_taken'),
      'GET /api/agents/agt_1': (_, response) =>
        reads++ < 2 ? json(response, 404, { detail: 'Not found' }) : json(response, 200, MINE),
    });
    expect(await server.client().agents.provision(WANTED)).toEqual(MINE);
    expect(reads).toBe(3);
  });

  it('rejects at once if another agent has the name', async () => {
    serves([NONE], {
      'POST /api/agents': taken('agent_name_taken'),
      'GET /api/agents/agt_1': ok({ id: 'agt_1', externalId: null }),
    });
    const error = await rejection(server.client().agents.provision(WANTED));
    expect(error).toBeInstanceOf(ServiceConflictError);
    expect(error).toMatchObject({ code: 'agent_name_taken' });
  });

  it('gives up with the conflict after 5 s if the agent is never seen', async () => {
    serves([NONE], {
      'POST /api/agents': taken('external_id_taken'),
      'GET /api/agents/agt_1': (_, response) => json(response, 404, { detail: 'Not found' }),
    });
    const begun = performance.now();
    expect(await rejection(server.client().agents.provision(WANTED))).toMatchObject({
      code: 'external_id_taken',
    });
    expect(performance.now() - begun).toBeGreaterThan(4_000);
  });

  it('rejects with every other refusal', async () => {
    serves([NONE], {
      'POST /api/agents': (_, response) =>
        json(response, 409, { detail: { code: 'plan_conflict', message: 'No.', agentId: 'agt_1' } }),
    });
    expect(await rejection(server.client().agents.provision(WANTED))).toMatchObject({
      code: 'plan_conflict',
    });
    expect(sent()).toEqual(['GET /api/agents', 'POST /api/agents']);
  });

  it('has one time-out for all that it does', async () => {
    serves([NONE], { 'POST /api/agents': () => undefined });
    expect(await rejection(server.client().agents.provision(WANTED, { timeout: 200 }))).toMatchObject({
      code: 'timeout',
    });
  });
});
