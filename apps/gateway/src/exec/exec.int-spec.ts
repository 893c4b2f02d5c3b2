import { execRequests, executionIdOf, type SubmitExecution } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { DomainError, newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;
let key: string;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
  key = test.services.key(['read', 'deploy']);
});

const AGENT = newId('agt');
const PATH = `/api/agents/${AGENT}/exec`;

const done = (members: Partial<ExecutionView> = {}): ExecutionView => ({
  executionId: newId('exe'),
  status: 'completed',
  exitCode: 0,
  stdout: 'out',
  stderr: 'err',
  ...members,
});
const running = (executionId: string): ExecutionView =>
  done({ executionId, status: 'running', exitCode: null, stdout: null, stderr: null });

const submissions = (): readonly SubmitExecution[] =>
  test.services.requestsTo(execRequests.submit).map(({ payload }) => payload as unknown as SubmitExecution);

const submit = (json: unknown, headers: Readonly<Record<string, string>> = {}) =>
  test.call('POST', PATH, { key, json, headers });

describe('a submission', () => {
  it('returns exactly five members if attached', async () => {
    const execution = done();
    test.services.on(execRequests.submit, () => ({ kind: 'execution' as const, execution }));
    const { status, body } = await submit({ command: 'true' });
    expect([status, body]).toEqual([200, execution]);
    expect(Object.keys(body)).toEqual(['executionId', 'status', 'exitCode', 'stdout', 'stderr']);
  });

  it('returns exactly two members and the location of the execution if detached', async () => {
    const executionId = newId('exe');
    test.services.on(execRequests.submit, () => ({
      kind: 'execution' as const,
      execution: done({ executionId }),
    }));
    const { status, body, headers } = await submit({ command: 'true', detached: true });
    expect([status, body]).toEqual([202, { executionId, status: 'completed' }]);
    expect(headers.get('location')).toBe(`${PATH}/${executionId}`);
  });

  it('returns the legacy shape of older guests, without an execution', async () => {
    test.services.on(execRequests.submit, () => ({ kind: 'legacy' as const, exitCode: 3, stdout: 'both' }));
    const { status, body, headers } = await submit({ command: 'true' });
    expect([status, body]).toEqual([200, { exitCode: 3, stdout: 'both', stderr: '' }]);
    expect(headers.get('location')).toBeNull();
  });

  it('passes the options on, and quotes a list of arguments', async () => {
    test.services.on(execRequests.submit, () => ({ kind: 'execution' as const, execution: done() }));
    await submit({ command: ['echo', "it's", ''], timeout: 0.3, cwd: 'src', env: { A: 'b' } });
    await submit({ command: ' ', timeout: null, detached: false });
    await submit({ command: 'x', timeout: 1e300, detached: true });
    expect(submissions()).toMatchObject([
      {
        agentId: AGENT,
        command: `'echo' 'it'\\''s' ''`,
        detached: false,
        timeoutSeconds: 0.3,
        cwd: 'src',
        env: { A: 'b' },
      },
      { command: ' ', detached: false, timeoutSeconds: null, cwd: null, env: {} },
      { command: 'x', detached: true, timeoutSeconds: 1e300 },
    ]);
  });

  it('accepts a command of 1 MiB regardless of JSON escapes, and refuses a longer one', async () => {
    test.services.on(execRequests.submit, ({ command }) => ({
      kind: 'execution' as const,
      execution: done({ stdout: String(command.length) }),
    }));
    const longest = '\u0001'.repeat(1_048_576);
    expect((await submit({ command: longest })).body['stdout']).toBe('1048576');
    test.services.agents.set(AGENT, anAgent({ id: AGENT }));
    const { status, body } = await submit({ command: `${longest}x` });
    expect([status, body.detail]).toMatchObject([413, { code: 'payload_too_large', limitBytes: 1_048_576 }]);
    const quotes = await submit({ command: ["'".repeat(300_000)] });
    expect([quotes.status, quotes.body.detail?.code]).toEqual([413, 'payload_too_large']);
  });
});

describe('a bad submission', () => {
  beforeEach(() => test.services.agents.set(AGENT, anAgent({ id: AGENT })));

  it.each([
    ['invalid_command', {}],
    ['invalid_command', { command: '' }],
    ['invalid_command', { command: [] }],
    ['invalid_command', { command: null }],
    ['invalid_command', { command: 5 }],
    ['invalid_command', { command: ['a', 5] }],
    ['invalid_command', { command: { a: 1 } }],
    ['invalid_command', { command: 'a\0b' }],
    ['invalid_command', { command: ['a\0b'] }],
    ['invalid_command', { command: 'half \ud800' }],
    ['invalid_detached', { command: 'x', detached: null }],
    ['invalid_detached', { command: 'x', detached: 'true' }],
    ['invalid_detached', { command: 'x', detached: 1 }],
    ['invalid_timeout', { command: 'x', timeout: 0 }],
    ['invalid_timeout', { command: 'x', timeout: -1 }],
    ['invalid_timeout', { command: 'x', timeout: '5' }],
    ['invalid_timeout', { command: 'x', timeout: true }],
    ['invalid_timeout', { command: 'x', timeout: [] }],
    ['invalid_request', { command: 'x', cwd: 5 }],
    ['invalid_request', { command: 'x', env: ['A=b'] }],
    ['invalid_request', { command: 'x', env: { BERTH_X: 'b' } }],
    ['invalid_request', ['x']],
  ])('is 400 %s: %j', async (code, json) => {
    const { status, body } = await submit(json);
    expect([status, body.detail?.code]).toEqual([400, code]);
    expect(submissions()).toEqual([]);
  });

  it('is 400 invalid_timeout for a number that JSON cannot hold', async () => {
    const { status, body } = await test.call('POST', PATH, {
      key,
      body: '{"command":"x","timeout":1e999}',
      headers: { 'content-type': 'application/json' },
    });
    expect([status, body.detail?.code]).toEqual([400, 'invalid_timeout']);
  });

  it('of an unknown agent is 404', async () => {
    test.services.agents.clear();
    expect((await submit({})).body.detail?.code).toBe('agent_not_found');
  });
});

describe('the documented errors', () => {
  const refuse = (error: DomainError): void =>
    test.services.on(execRequests.submit, () => {
      throw error;
    });

  it.each([
    [
      new DomainError('conflict', 'vm_not_ready', 'm', { state: 'starting', execution_started: false }),
      409,
      { code: 'vm_not_ready', state: 'starting', execution_started: false },
    ],
    [
      new DomainError('unavailable', 'guest_command_unavailable', 'm', { execution_started: false }),
      503,
      { code: 'guest_command_unavailable', execution_started: false },
    ],
    [
      new DomainError('unsupported', 'detached_unsupported', 'm'),
      501,
      'unsupported: outdated vm. Please use a new agent.',
    ],
  ])('have exactly the documented body: %s', async (error, expected, detail) => {
    refuse(error);
    const { status, body } = await submit({ command: 'x' });
    expect([status, body]).toEqual([expected, { detail }]);
  });

  it('carry Retry-After with a 503', async () => {
    refuse(new DomainError('unavailable', 'guest_command_unavailable', 'm', { execution_started: false }));
    expect((await submit({ command: 'x' })).headers.get('retry-after')).toBe('1');
  });

  it.each(['GET', 'DELETE'])('%s of an unknown or malformed id has the same body', async (method) => {
    const unknown = (): never => {
      throw new DomainError('not_found', 'execution_not_found', 'Execution not found');
    };
    test.services.on(execRequests.get, unknown);
    test.services.on(execRequests.cancel, unknown);
    for (const id of [newId('exe'), 'nope', newId('agt')]) {
      const { status, body } = await test.call(method, `${PATH}/${id}`, { key });
      expect([status, body]).toEqual([404, { detail: 'Execution not found' }]);
    }
  });
});

describe('an execution', () => {
  it('shows two members while it runs and five afterwards', async () => {
    const execution = done({ exitCode: 7 });
    const path = `${PATH}/${execution.executionId}`;
    test.services.on(execRequests.get, () => running(execution.executionId));
    expect((await test.call('GET', path, { key })).body).toEqual({
      executionId: execution.executionId,
      status: 'running',
    });
    test.services.on(execRequests.get, () => execution);
    expect((await test.call('GET', path, { key })).body).toEqual(execution);
    test.services.on(execRequests.cancel, () => execution);
    const cancelled = await test.call('DELETE', path, { key });
    expect([cancelled.status, cancelled.body]).toEqual([200, execution]);
  });

  it('is listed without output', async () => {
    const page = { items: [], nextCursor: null };
    test.services.on(execRequests.list, () => page);
    expect((await test.call('GET', `${PATH}?status=failed&limit=3`, { key })).body).toEqual(page);
    expect(test.services.requestsTo(execRequests.list)[0]?.payload).toMatchObject({
      status: 'failed',
      limit: 3,
    });
    test.services.agents.set(AGENT, anAgent({ id: AGENT }));
    expect((await test.call('GET', `${PATH}?status=gone`, { key })).status).toBe(400);
  });

  it.each([
    ['POST', PATH],
    ['GET', PATH],
    ['GET', `${PATH}/${newId('exe')}`],
    ['DELETE', `${PATH}/${newId('exe')}`],
    ['GET', `${PATH}/${newId('exe')}/output`],
  ])('%s %s needs the scope deploy', async (method, path) => {
    const { status, body } = await test.call(method, path, { key: test.services.key(['read', 'manage']) });
    expect([status, body.detail]).toMatchObject([403, { code: 'missing_scope', requiredScope: 'deploy' }]);
  });
});

describe('a lost response', () => {
  const lose = (): void =>
    test.services.on(execRequests.submit, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'The handler died.');
    });

  it('is recovered by sending the command once more under its id, attached and detached', async () => {
    for (const detached of [false, true]) {
      test.services.reset();
      test.services.on(execRequests.submit, (submission) => {
        if (!submission.repeated) throw new DomainError('unavailable', 'service_unavailable', 'Lost.');
        const execution = done({ executionId: executionIdOf(submission.commandId) });
        return { kind: 'execution' as const, execution };
      });
      const { status, body } = await submit({ command: 'x', detached });
      const [first, second] = submissions();
      expect(second).toEqual({ ...first, repeated: true });
      expect([status, body['executionId']]).toEqual([
        detached ? 202 : 200,
        executionIdOf(first?.commandId ?? ''),
      ]);
    }
  });

  it('is read from the instance that knows the execution', async () => {
    lose();
    const views = [running('x')];
    test.services.on(execRequests.await, ({ executionId }) => views.pop() ?? done({ executionId }));
    const { status, body } = await submit({ command: 'x' });
    const commandId = submissions()[0]?.commandId ?? '';
    expect([status, body]).toMatchObject([
      200,
      { executionId: executionIdOf(commandId), status: 'completed' },
    ]);
  });

  it('is 502 with the id if no instance responds, and never states that nothing started', async () => {
    lose();
    test.services.on(execRequests.await, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'Away.');
    });
    for (const detached of [false, true]) {
      const { status, body } = await submit({ command: 'x', detached });
      const executionId = executionIdOf(submissions().at(-1)?.commandId ?? '');
      expect([status, body.detail]).toMatchObject([502, { code: 'execution_outcome_unknown', executionId }]);
      expect(JSON.stringify(body)).not.toContain('execution_started');
    }
  });

  it('keeps its Idempotency-Key, also if the second request is refused while the first may run', async () => {
    test.services.on(execRequests.submit, ({ repeated }) => {
      if (!repeated) throw new DomainError('unavailable', 'service_unavailable', 'Lost.');
      throw new DomainError('payment_required', 'compute_cap_reached', 'No.');
    });
    const headers = { 'idempotency-key': newId('req') };
    const { status, body } = await submit({ command: 'x', detached: true }, headers);
    expect([status, body.detail]).toMatchObject([402, { mayHaveBeenDone: true }]);
    await submit({ command: 'x', detached: true }, headers);
    expect(new Set(submissions().map(({ commandId }) => commandId)).size).toBe(1);
  });

  it('under an Idempotency-Key is retried as the same execution', async () => {
    lose();
    const headers = { 'idempotency-key': newId('req') };
    expect((await submit({ command: 'x', detached: true }, headers)).status).toBe(502);
    test.services.on(execRequests.submit, ({ commandId }) => ({
      kind: 'execution' as const,
      execution: done({ executionId: executionIdOf(commandId) }),
    }));
    expect((await submit({ command: 'x', detached: true }, headers)).status).toBe(202);
    const [first, second] = submissions();
    expect(second?.commandId).toBe(first?.commandId);
  });
});
