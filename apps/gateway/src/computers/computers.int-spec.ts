import { billingRequests, type ComputerUsageReport } from '@berth/contracts/billing';
import { computersRequests } from '@berth/contracts/computers';
import { DomainError, newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type Call, type TestGateway } from '../fixtures/gateway.fixture.js';
import { aComputer } from '../fixtures/test-services.fixture.js';

const computer = aComputer();
const path = `/api/v1/computers/${computer.id}`;
let test: TestGateway;
let key: string;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.computers.clear();
  test.services.computers.set(computer.id, computer);
  key = test.services.key(['read', 'computers']);
});

const call = (method: string, at: string, more: Call = {}) => test.call(method, at, { key, ...more });

const lastRequest = (definition: { readonly subject: string }): Readonly<Record<string, unknown>> =>
  test.services.received.findLast(({ subject }) => subject === definition.subject)?.payload ?? {};

describe('POST /api/v1/computers', () => {
  beforeEach(() =>
    test.services.on(computersRequests.create, () => ({
      computer: aComputer({ id: computer.id }),
      created: true,
    })),
  );

  it('returns 201 with the location of a new computer, which takes the defaults for what the body omits', async () => {
    const { status, headers, body } = await call('POST', '/api/v1/computers', {
      json: { display: { width: 640 } },
    });
    expect([status, headers.get('location'), body['id']]).toEqual([201, path, computer.id]);
    expect(lastRequest(computersRequests.create)).toMatchObject({
      externalUserId: null,
      name: null,
      display: { width: 640, height: 800 },
      idleTtlSeconds: 900,
    });
  });

  it('returns 200 without a location for the computer that the end user has', async () => {
    test.services.on(computersRequests.create, () => ({ computer, created: false }));
    const { status, headers } = await call('POST', '/api/v1/computers', { json: { externalUserId: 'ada' } });
    expect([status, headers.get('location')]).toEqual([200, null]);
  });

  it.each(['', '..', 'a b', 'x'.repeat(129)])(
    'is 400 `invalid_external_id` for the external id %j, whatever else is wrong',
    async (externalUserId) => {
      const { status, body } = await call('POST', '/api/v1/computers', {
        json: { externalUserId, name: '' },
      });
      expect([status, body.detail?.code]).toEqual([400, 'invalid_external_id']);
      expect(test.services.requestsTo(computersRequests.create)).toEqual([]);
    },
  );

  it('names every other bad member', async () => {
    const json = { name: '', display: { width: 639, height: 1_601 }, idleTtlSeconds: 1 };
    const { body } = await call('POST', '/api/v1/computers', { json });
    expect(body.detail?.fields?.map((field) => field.path).sort()).toEqual([
      'display.height',
      'display.width',
      'idleTtlSeconds',
      'name',
    ]);
  });

  it('creates once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': newId('cmd') };
    const first = await call('POST', '/api/v1/computers', { json: {}, headers });
    const again = await call('POST', '/api/v1/computers', { json: {}, headers });
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(test.services.requestsTo(computersRequests.create)).toHaveLength(1);
  });
});

describe('a computer', () => {
  it('is listed by end user and status', async () => {
    test.services.on(computersRequests.list, () => ({ items: [computer], nextCursor: null }));
    const { body } = await call('GET', '/api/v1/computers?externalUserId=ada&status=sleeping&limit=7');
    expect(body).toEqual({ items: [computer], nextCursor: null });
    expect(lastRequest(computersRequests.list)).toMatchObject({
      externalUserId: 'ada',
      status: 'sleeping',
      cursor: null,
      limit: 7,
    });
  });

  it.each(['wake', 'sleep'] as const)(
    'returns 202 for a %s that goes on after the response',
    async (transition) => {
      test.services.on(computersRequests[transition], () => ({ computer, settled: true }));
      expect((await call('POST', `${path}/${transition}`)).status).toBe(200);
      test.services.on(computersRequests[transition], () => ({ computer, settled: false }));
      const { status, body } = await call('POST', `${path}/${transition}`);
      expect([status, body]).toEqual([202, computer]);
    },
  );

  it('is deleted with 204', async () => {
    test.services.on(computersRequests.delete, () => ({}));
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('has viewer sessions, which are closed one by one or all at once', async () => {
    test.services.on(computersRequests.listSessions, () => ({ items: [] }));
    test.services.on(computersRequests.closeSessions, () => ({ closed: 2 }));
    expect((await call('GET', `${path}/sessions`)).body).toEqual({ items: [] });
    for (const json of [{}, { sessionId: null }, { sessionId: 'vws_x' }]) {
      const { body } = await call('POST', `${path}/sessions/close`, { json });
      expect(body).toEqual({ closed: 2 });
      expect(lastRequest(computersRequests.closeSessions)['sessionId']).toBe(json.sessionId ?? null);
    }
  });

  it('is 404 before every 400 of its routes', async () => {
    const unknown = `/api/v1/computers/${newId('cmp')}`;
    for (const [method, route, more] of [
      ['GET', 'screenshot?scale=7', {}],
      ['POST', 'exec', { json: { command: '' } }],
      ['POST', 'actions', { json: { type: 'nothing' } }],
      ['POST', 'actions', { body: '{' }],
      ['PUT', 'files', {}],
      ['GET', 'files', {}],
      ['POST', 'sessions/close', { json: { sessionId: 7 } }],
    ] as const) {
      const { status, body } = await call(method, `${unknown}/${route}`, more);
      expect([route, status, body.detail?.code]).toEqual([route, 404, 'computer_not_found']);
    }
  });
});

describe('the usage of computers', () => {
  const report: ComputerUsageReport = {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-02T00:00:00.000Z',
    currency: 'USD',
    rows: [
      {
        computerId: computer.id,
        name: 'desk',
        externalUserId: null,
        hostingBasis: 'metered',
        activeSeconds: 1.5,
        vcpuSeconds: 3,
        memGbSeconds: 3,
        diskGbSeconds: 100,
        wakes: 1,
        actions: 4,
        screenshots: 2,
        executions: 0,
        hostingCents: 0.25,
        totalCents: 0.25,
      },
    ],
    totals: {
      activeSeconds: 1.5,
      wakes: 1,
      actions: 4,
      screenshots: 2,
      executions: 0,
      hostingCents: 0.25,
      totalCents: 0.25,
    },
    nextCursor: null,
    asOf: '2026-11-02T00:00:00.000Z',
  };

  beforeEach(() => test.services.on(billingRequests.computerUsage, () => report));

  it('is a page of rows and their totals, for the range in UTC', async () => {
    const { body } = await call(
      'GET',
      `/api/v1/computers/usage?from=2026-11-01T02:00%2B02:00&computerId=${computer.id}`,
    );
    expect(body).toEqual(report);
    expect(lastRequest(billingRequests.computerUsage)).toMatchObject({
      from: '2026-11-01T00:00:00.000Z',
      to: null,
      externalUserId: null,
      computerId: computer.id,
      limit: 10_000,
    });
  });

  it('is CSV on request', async () => {
    const { text } = await call('GET', '/api/v1/computers/usage', { headers: { accept: 'text/csv' } });
    expect(text.split('\r\n')[1]).toBe(`${computer.id},desk,,metered,1.5,3,3,100,1,4,2,0,0.25,0.25`);
  });
});

describe('a command on a computer', () => {
  const result = {
    executionId: newId('exe'),
    status: 'completed',
    exitCode: 3,
    stdout: 'a',
    stderr: 'b',
  } as const;

  beforeEach(() => test.services.on(computersRequests.exec, () => result));

  it('returns its result, and gets the items of a list unchanged', async () => {
    const json = { command: ['echo', "it's"], timeout: 7, env: { A: 'b' } };
    expect((await call('POST', `${path}/exec`, { json })).body).toEqual(result);
    expect(lastRequest(computersRequests.exec)).toMatchObject({
      command: `'echo' 'it'\\''s'`,
      timeoutSeconds: 7,
      cwd: null,
      env: { A: 'b' },
    });
  });

  it.each([
    [{ command: 'ls', detached: true }, 'invalid_detached'],
    [{ command: [] }, 'invalid_command'],
    [{ command: 'ls', timeout: 0 }, 'invalid_timeout'],
  ])('is 400 for %j', async (json, code) => {
    const { status, body } = await call('POST', `${path}/exec`, { json });
    expect([status, body.detail?.code]).toEqual([400, code]);
  });

  it('is 502 when its result is lost, and does not run again under the same Idempotency-Key', async () => {
    test.services.on(computersRequests.exec, () => {
      throw new DomainError(
        'unavailable',
        'service_unavailable',
        'The service has gone.',
        {},
        { effect: 'unknown' },
      );
    });
    const headers = { 'idempotency-key': newId('cmd') };
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await call('POST', `${path}/exec`, { json: { command: 'ls' }, headers });
      expect([status, body.detail]).toMatchObject([
        502,
        { code: 'execution_outcome_unknown', mayHaveBeenDone: true },
      ]);
    }
    expect(test.services.requestsTo(computersRequests.exec)).toHaveLength(1);
  });
});
