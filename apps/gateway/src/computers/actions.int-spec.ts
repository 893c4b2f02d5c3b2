import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { computersRequests, planActions, type PlanOutcome } from '@berth/contracts/computers';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type Call, type TestGateway } from '../fixtures/gateway.fixture.js';
import { aComputer } from '../fixtures/test-services.fixture.js';

type Respond = (response: ServerResponse, plan: Readonly<Record<string, unknown>>) => void;

const computer = aComputer({ display: { width: 1_000, height: 500 } });
const path = `/api/v1/computers/${computer.id}/actions`;
const CLICK = { type: 'click', x: 10, y: 20 };
const DONE: PlanOutcome = {
  units: [{ error: null, seen: null }],
  cursor: { x: 10, y: 20 },
  closing: null,
  durationMs: 5,
};

let test: TestGateway;
let host: Server;
let url: string;
let accountId: string;
let key: string;
/** Plans that the host has received. */
let plans: number;
let respond: Respond;

beforeAll(async () => {
  test = await startTestGateway();
  host = createServer((request: IncomingMessage, response) => {
    void textOf(request).then((text) => {
      plans++;
      expect(request.headers.authorization).toBe('Bearer secret');
      respond(response, JSON.parse(text) as Readonly<Record<string, unknown>>);
    });
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${String((host.address() as AddressInfo).port)}/v1/transfer`;
});
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  test.services.computers.set(computer.id, computer);
  test.services.on(computersRequests.openActions, () => ({ url, ticket: 'secret', epoch: 4 }));
  test.services.on(computersRequests.reportActions, () => ({}));
  accountId = newId('acc');
  key = test.services.key(['read', 'computers'], accountId);
  plans = 0;
  respond = (response) => response.end(JSON.stringify(DONE));
});

const act = (json: unknown, more: Call = {}) => test.call('POST', path, { key, json, ...more });

/** Without those of earlier tests, which nobody waits for. */
const reported = () =>
  test.services
    .requestsTo(computersRequests.reportActions)
    .map(({ payload }) => payload)
    .filter((report) => report['accountId'] === accountId);

const refuse =
  (kind: string, code: string): Respond =>
  (response) =>
    response.writeHead(422).end(JSON.stringify({ error: { kind, code, message: 'No.', context: {} } }));

describe('actions', () => {
  it('are planned for the display of the computer, carried out by its host, and answered in the form they came in', async () => {
    let sent: unknown;
    respond = (response, plan) => {
      sent = plan;
      response.write('\n\n');
      response.end(`\n${JSON.stringify({ ...DONE, cursor: { x: 500, y: 250 } })}`);
    };
    const use = {
      type: 'tool_use',
      id: 't1',
      name: 'computer',
      input: { action: 'left_click', coordinate: [5, 2.5] },
    };
    const { status, body } = await act({ actions: [use], scale: 0.5 });
    expect([status, body]).toMatchObject([
      200,
      {
        results: [{ index: 0, ok: true, output: { type: 'tool_result', tool_use_id: 't1' } }],
        failedIndex: null,
        skipped: [],
        cursor: { x: 250, y: 125 },
        durationMs: 5,
      },
    ]);
    expect(sent).toEqual(planActions({ actions: [use], scale: 0.5 }, computer.display));
  });

  it('beyond the display are 400 `invalid_action` with every bad member and the outputs for the model, and nothing is done', async () => {
    const use = {
      type: 'tool_use',
      id: 't1',
      name: 'computer',
      input: { action: 'left_click', coordinate: [1_000, 1] },
    };
    const { status, body } = await act({ actions: [use, { type: 'click', x: 1, y: 500 }] });
    expect([status, body.detail]).toMatchObject([
      400,
      {
        code: 'invalid_action',
        fields: [{ path: 'actions[0].input.coordinate' }, { path: 'actions[1].y' }],
        outputs: [{ type: 'tool_result', tool_use_id: 't1', is_error: true }],
      },
    ]);
    expect(test.services.requestsTo(computersRequests.get)).toHaveLength(1);
    expect([test.services.requestsTo(computersRequests.openActions), plans]).toEqual([[], 0]);
  });

  it('that are invalid are 400 also under an Idempotency-Key that another body has used', async () => {
    const headers = { 'idempotency-key': newId('cmd') };
    expect((await act(CLICK, { headers })).status).toBe(200);
    expect((await act({ type: 'nothing' }, { headers })).status).toBe(400);
    expect((await act(CLICK, { headers })).headers.get('idempotent-replayed')).toBe('true');
    expect(plans).toBe(1);
  });

  it('with a check that nobody has acknowledged are 409, and nothing is done', async () => {
    const call = {
      type: 'computer_call',
      call_id: 'c',
      action: CLICK,
      pending_safety_checks: [{ id: 's1' }],
    };
    const { status, body } = await act({ actions: [call] });
    expect([status, body.detail]).toMatchObject([
      409,
      { code: 'safety_check_pending', pending_safety_checks: [{ id: 's1' }] },
    ]);
    expect(plans).toBe(0);
  });

  it.each([
    ['conflict', 'taken_over', 409],
    ['exhausted', 'too_many_batches', 429],
    ['upstream', 'actions_outcome_unknown', 502],
    ['unavailable', 'guest_unreachable', 503],
  ])('that the host refuses with %s `%s` are %i', async (kind, code, expected) => {
    respond = refuse(kind, code);
    const { status, body } = await act(CLICK);
    expect([status, body.detail?.code]).toEqual([
      expected,
      code === 'guest_unreachable' ? 'computer_unavailable' : code,
    ]);
    expect(plans).toBe(1);
  });

  it('get a new ticket only if the host has not taken the plan', async () => {
    respond = (response, plan) => {
      respond = (later) => later.end(JSON.stringify(DONE));
      refuse('conflict', 'stale_epoch')(response, plan);
    };
    expect((await act(CLICK)).status).toBe(200);
    const epochs = test.services
      .requestsTo(computersRequests.openActions)
      .map(({ payload }) => payload['refusedEpoch']);
    expect(epochs).toEqual([null, 4]);
  });

  it.each<[string, Respond]>([
    ['before the first byte', (response) => response.destroy()],
    ['while they are carried out', (response) => response.write('\n', () => response.destroy())],
    ['in the middle of the outcome', (response) => response.write('{"units": [', () => response.destroy())],
    ['without an outcome', (response) => response.end('\n\n')],
  ])(
    'are 502 `actions_outcome_unknown` when the host is lost %s, and not sent again',
    async (_when, lose) => {
      respond = lose;
      const headers = { 'idempotency-key': newId('cmd') };
      for (let attempt = 0; attempt < 2; attempt++) {
        const { status, body } = await act(CLICK, { headers });
        expect([status, body.detail]).toMatchObject([
          502,
          { code: 'actions_outcome_unknown', mayHaveBeenDone: true },
        ]);
      }
      expect([plans, reported()]).toEqual([1, []]);
    },
  );

  it('are 503 `computer_unavailable` when the host cannot be reached, and are sent under the same Idempotency-Key later', async () => {
    const headers = { 'idempotency-key': newId('cmd') };
    test.services.on(computersRequests.openActions, () => ({
      url: 'http://127.0.0.1:9/',
      ticket: 'secret',
      epoch: 1,
    }));
    const { status, body } = await act(CLICK, { headers });
    expect([status, body.detail?.code, body.detail?.['mayHaveBeenDone']]).toEqual([
      503,
      'computer_unavailable',
      undefined,
    ]);
    test.services.on(computersRequests.openActions, () => ({ url, ticket: 'secret', epoch: 4 }));
    expect((await act(CLICK, { headers })).status).toBe(200);
  });
});

describe('the report of actions', () => {
  const image = {
    format: 'png',
    width: 1,
    height: 1,
    data: 'AA==',
    capturedAt: '2026-11-21T10:00:00.000Z',
  } as const;

  it('counts the results and every image, and is repeated until the service has it', async () => {
    let failures = 1;
    test.services.on(computersRequests.reportActions, (report) => {
      if (report.accountId === accountId && failures-- > 0)
        throw new DomainError('unavailable', 'service_unavailable', 'Not now.');
      return {};
    });
    respond = (response) =>
      response.end(
        JSON.stringify({
          ...DONE,
          units: [
            { error: null, seen: { kind: 'image', image } },
            { error: { code: 'failed', message: 'No.' }, seen: null },
          ],
          closing: image,
        }),
      );
    expect((await act({ actions: [{ type: 'screenshot' }, CLICK, CLICK], screenshot: true })).status).toBe(
      200,
    );
    await eventually(() => expect(reported()).toHaveLength(2));
    const opened = test.services.requestsTo(computersRequests.openActions)[0]?.payload;
    expect(opened?.['actions']).toBe(3);
    for (const report of reported())
      expect(report).toMatchObject({
        computerId: computer.id,
        commandId: opened?.['commandId'],
        results: 2,
        images: 2,
      });
  });

  it('is sent also when the caller has hung up', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    respond = (response) => {
      response.write('\n');
      begun.resolve(response);
    };
    const hangUp = new AbortController();
    const call = act(CLICK, { signal: hangUp.signal }).catch(() => undefined);
    const response = await begun.promise;
    hangUp.abort();
    await call;
    response.end(JSON.stringify(DONE));
    await eventually(() => expect(reported()).toMatchObject([{ results: 1, images: 0 }]));
  });
});
