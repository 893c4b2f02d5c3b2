import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCommand, execRequests, idOf, startTestExec, type TestExec } from './fixtures/exec.fixture.js';
import { done, HOST } from './fixtures/fake-services.fixture.js';

let test: TestExec;
let agentId: string;

beforeAll(async () => {
  test = await startTestExec();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.fakes.reset();
  agentId = newId('agt');
});

const notFound = { kind: 'not_found', code: 'execution_not_found', message: 'Execution not found' };

describe('an attached execution', () => {
  it('returns its result once it is stored; every reader gets the same result, and the log records the end', async () => {
    const submit = aCommand(agentId, { command: 'hello' });
    const executionId = idOf(submit);
    const execution = { executionId, status: 'completed', exitCode: 0, stdout: 'hello', stderr: '' };
    expect(await test.ask(execRequests.submit, submit)).toEqual({ kind: 'execution', execution });
    expect(await test.get(agentId, executionId)).toEqual(execution);
    expect(await test.ask(execRequests.await, { ...test.ref(agentId, executionId), waitMs: 5_000 })).toEqual(
      execution,
    );
    await eventually(async () =>
      expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionEnded']),
    );
  });

  it('costs one request to agents, one to the host, and no other', async () => {
    await test.ask(execRequests.submit, aCommand(agentId));
    expect(test.fakes.subjects).toEqual([
      agentsRequests.ensureAwake.subject,
      runtimeRequests.execute.subject,
    ]);
  });

  it('returns output exactly, including characters that a text column rejects', async () => {
    const stdout = '\u0000a\u0001\ufffd\u{1f600}\r\n\u0000';
    test.fakes.on(runtimeRequests.execute, () => done({ stdout, stderr: '\u0000', exitCode: 3 }));
    const submit = aCommand(agentId);
    const submitted = await test.ask(execRequests.submit, submit);
    const view = { executionId: idOf(submit), status: 'completed', exitCode: 3, stdout, stderr: '\u0000' };
    expect(submitted).toEqual({ kind: 'execution', execution: view });
    expect(await test.get(agentId, idOf(submit))).toEqual(view);
  });

  it('writes neither its command nor its output to the log', async () => {
    const submit = aCommand(agentId, { command: 'PLAINTEXT', env: { A: 'PLAINTEXT' } });
    await test.ask(execRequests.submit, submit);
    const events = await eventually(async () => {
      const read = await test.store.read(`execution-${idOf(submit)}`);
      expect(read).toHaveLength(2);
      return read;
    });
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain('PLAINTEXT');
  });

  it.each([
    [null, false, 60_000],
    [null, true, 3_600_000],
    [0.3, false, 300],
    [121, false, 121_000],
    [1e300, false, Number.MAX_SAFE_INTEGER],
    [Number.MAX_VALUE, true, Number.MAX_SAFE_INTEGER],
  ])('with timeout %s (detached: %s) gets %s ms', async (timeoutSeconds, detached, timeoutMs) => {
    await test.ask(execRequests.submit, aCommand(agentId, { timeoutSeconds, detached }));
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toMatchObject([{ timeoutMs, wait: !detached }]);
  });

  it('submitted twice at once, or again later, runs once and returns the same result', async () => {
    const submit = aCommand(agentId, { command: 'sleep' });
    const first = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.journal.has(idOf(submit)));
    const second = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.requestsOf(agentsRequests.ensureAwake).length === 2);
    test.fakes.finish(idOf(submit), { stdout: 'once' });
    const responses = await Promise.all([first, second, test.ask(execRequests.submit, submit)]);
    for (const response of responses) expect(response).toMatchObject({ execution: { stdout: 'once' } });
    expect(test.fakes.starts.get(idOf(submit))).toBe(1);
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toHaveLength(1);
  });
});

describe('a detached execution', () => {
  it('is returned while it runs, and its end is recorded without any request', async () => {
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    const executionId = idOf(submit);
    const running = { executionId, status: 'running', exitCode: null, stdout: null, stderr: null };
    expect(await test.ask(execRequests.submit, submit)).toEqual({ kind: 'execution', execution: running });
    expect(await test.get(agentId, executionId)).toEqual(running);
    test.fakes.finish(executionId, { stdout: 'later', exitCode: 7 });
    await eventually(async () => (await test.history(executionId)).includes('ExecutionEnded'));
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'completed', exitCode: 7 });
  });

  it('that ends at once is returned with its result', async () => {
    const submitted = await test.ask(execRequests.submit, aCommand(agentId, { detached: true }));
    expect(submitted).toMatchObject({ execution: { status: 'completed', stdout: 'true' } });
  });

  it('can be awaited on every instance until its end', async () => {
    const other = await test.another();
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    await test.ask(execRequests.submit, submit);
    const ref = { ...test.ref(agentId, idOf(submit)), waitMs: 20_000 };
    const waiting = Array.from({ length: 8 }, () => test.ask(execRequests.await, ref));
    await eventually(() => test.fakes.requestsOf(runtimeRequests.findExecution).length >= 9);
    test.fakes.finish(idOf(submit), { stdout: 'end' });
    for (const view of await Promise.all(waiting)) expect(view).toMatchObject({ stdout: 'end' });
    await eventually(async () =>
      expect((await test.history(idOf(submit))).filter((type) => type === 'ExecutionEnded')).toHaveLength(1),
    );
    await other.stop();
  });

  it('is awaited no longer than requested', async () => {
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    await test.ask(execRequests.submit, submit);
    const ref = { ...test.ref(agentId, idOf(submit)), waitMs: 300 };
    expect(await test.ask(execRequests.await, ref)).toMatchObject({ status: 'running' });
  });

  it('for a guest known to be older is rejected without waking the agent', async () => {
    test.fakes.guest = { version: '0.9.0', capabilities: [] };
    const submitted = test.ask(execRequests.submit, aCommand(agentId, { detached: true }));
    await expect(submitted).rejects.toMatchObject({ kind: 'unsupported', code: 'detached_unsupported' });
    expect(test.fakes.requestsOf(agentsRequests.ensureAwake)).toEqual([]);
  });

  it('for a guest that turns out to be older is rejected once the agent is awake', async () => {
    test.fakes.guest = { version: '0.9.0', capabilities: [] };
    test.fakes.on(agentsRequests.locate, () => ({ host: null, guest: { version: '', capabilities: [] } }));
    const submitted = test.ask(execRequests.submit, aCommand(agentId, { detached: true }));
    await expect(submitted).rejects.toMatchObject({ kind: 'unsupported', code: 'detached_unsupported' });
    expect(test.fakes.requestsOf(runtimeRequests.executeLegacy)).toEqual([]);
  });
});

describe('an agent that cannot take commands', () => {
  const refuseWake = (error: DomainError): void =>
    test.fakes.on(agentsRequests.ensureAwake, () => {
      throw error;
    });

  it.each([
    ['conflict', 'agent_deploying', 'conflict', 'vm_not_ready'],
    ['conflict', 'agent_stopped', 'unavailable', 'guest_command_unavailable'],
    ['conflict', 'agent_failed', 'unavailable', 'guest_command_unavailable'],
    ['unavailable', 'agent_unavailable', 'unavailable', 'guest_command_unavailable'],
    ['unavailable', 'service_unavailable', 'unavailable', 'guest_command_unavailable'],
    ['internal', 'internal_error', 'unavailable', 'guest_command_unavailable'],
    ['not_found', 'agent_not_found', 'not_found', 'agent_not_found'],
    ['payment_required', 'compute_cap_reached', 'payment_required', 'compute_cap_reached'],
    ['forbidden', 'end_user_suspended', 'forbidden', 'end_user_suspended'],
    ['exhausted', 'wake_limit_reached', 'exhausted', 'wake_limit_reached'],
  ] as const)('returns %s %s as %s %s', async (kind, code, reportedKind, reportedCode) => {
    refuseWake(new DomainError(kind, code, 'm', { retryAfterSeconds: 3 }));
    const submit = aCommand(agentId);
    await expect(test.ask(execRequests.submit, submit)).rejects.toMatchObject({
      kind: reportedKind,
      code: reportedCode,
    });
    expect(await test.history(idOf(submit))).toEqual([]);
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toEqual([]);
  });

  it('causes exactly the documented errors', async () => {
    refuseWake(new DomainError('conflict', 'agent_deploying', 'm', { more: 1 }));
    await expect(test.ask(execRequests.submit, aCommand(agentId))).rejects.toMatchObject({
      context: { state: 'starting', execution_started: false },
    });
    refuseWake(new DomainError('conflict', 'agent_stopped', 'm', { more: 1 }));
    const stopped = await test.ask(execRequests.submit, aCommand(agentId)).catch((error: unknown) => error);
    expect(stopped).toMatchObject({ context: { execution_started: false } });
    expect(Object.keys((stopped as DomainError).context)).toEqual(['execution_started']);
  });
});

describe('an older guest', () => {
  beforeEach(() => {
    test.fakes.guest = { version: '0.9.0', capabilities: [] };
  });

  it('runs attached commands for 60 s by default and 120 s at most, and no result is stored', async () => {
    for (const timeoutSeconds of [null, 5, 500]) {
      const submit = aCommand(agentId, { command: 'both', timeoutSeconds });
      const response = await test.ask(execRequests.submit, submit);
      expect(response).toEqual({ kind: 'legacy', exitCode: 0, stdout: 'both' });
      expect(await test.history(idOf(submit))).toEqual([]);
      await expect(test.get(agentId, idOf(submit))).rejects.toMatchObject(notFound);
    }
    const timeouts = test.fakes.requestsOf(runtimeRequests.executeLegacy).map(({ timeoutMs }) => timeoutMs);
    expect(timeouts).toEqual([60_000, 5_000, 120_000]);
  });

  it('that may have started a command does not get it again, and the outcome is unknown', async () => {
    test.fakes.on(runtimeRequests.executeLegacy, () => {
      throw new DomainError('unavailable', 'guest_unreachable', 'm');
    });
    const error = await test.ask(execRequests.submit, aCommand(agentId)).catch((failed: unknown) => failed);
    expect(error).toMatchObject({ kind: 'upstream', code: 'execution_outcome_unknown', context: {} });
    expect((error as DomainError).context).not.toHaveProperty('executionId');
    expect(test.fakes.requestsOf(runtimeRequests.executeLegacy)).toHaveLength(1);
  });

  it('that fell asleep in the meantime is woken again', async () => {
    test.fakes.first(runtimeRequests.executeLegacy, 1, () => {
      throw new DomainError('conflict', 'stale_epoch', 'm');
    });
    expect(await test.ask(execRequests.submit, aCommand(agentId))).toMatchObject({ kind: 'legacy' });
    expect(test.fakes.requestsOf(agentsRequests.ensureAwake)[1]).toMatchObject({ refusedEpoch: 1 });
  });
});

describe('reading an execution', () => {
  it('that belongs to another account or agent, or does not exist, is not found', async () => {
    const submit = aCommand(agentId);
    await test.ask(execRequests.submit, submit);
    const ref = test.ref(agentId, idOf(submit));
    for (const other of [
      { ...ref, accountId: 'acc_2' },
      { ...ref, agentId: newId('agt') },
      { ...ref, executionId: newId('exe') },
    ]) {
      await expect(test.ask(execRequests.get, other)).rejects.toMatchObject(notFound);
      await expect(test.ask(execRequests.await, { ...other, waitMs: 10 })).rejects.toMatchObject(notFound);
      await expect(test.ask(execRequests.cancel, { ...submit, ...other })).rejects.toMatchObject(notFound);
      await expect(test.ask(execRequests.followOutput, other)).rejects.toMatchObject(notFound);
    }
  });

  it('never wakes the agent', async () => {
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    await test.ask(execRequests.submit, submit);
    const before = test.fakes.requestsOf(agentsRequests.ensureAwake);
    await test.get(agentId, idOf(submit));
    await test.ask(execRequests.await, { ...test.ref(agentId, idOf(submit)), waitMs: 50 });
    await test.ask(execRequests.followOutput, test.ref(agentId, idOf(submit)));
    await test.list(agentId);
    expect(test.fakes.requestsOf(agentsRequests.ensureAwake)).toEqual(before);
  });

  it('of a deleted agent reports that the agent is not found', async () => {
    const submit = aCommand(agentId);
    await test.ask(execRequests.submit, submit);
    test.fakes.on(agentsRequests.locate, () => {
      throw new DomainError('not_found', 'agent_not_found', 'm');
    });
    const gone = { code: 'agent_not_found' };
    await expect(test.get(agentId, idOf(submit))).rejects.toMatchObject(gone);
    await expect(test.get(agentId, newId('exe'))).rejects.toMatchObject(gone);
    await expect(test.list(agentId)).rejects.toMatchObject(gone);
  });

  it('24 hours after its end is not found, not listed and not stored', async () => {
    const submit = aCommand(agentId);
    await test.ask(execRequests.submit, submit);
    // Both tables: the sweep may delete the row of the vault at any moment from then on.
    await eventually(async () => {
      const sql = `UPDATE execution_list SET ended_at = now() - interval '24 hours'
        WHERE id = $1 AND ended_at IS NOT NULL RETURNING id`;
      expect(await test.database.query(sql, [idOf(submit)])).toHaveLength(1);
    });
    await test.database.query(
      `UPDATE output_vault SET expires_at = now(), ended_at = now() - interval '24 hours' WHERE execution_id = $1`,
      [idOf(submit)],
    );
    await expect(test.get(agentId, idOf(submit))).rejects.toMatchObject(notFound);
    expect((await test.list(agentId)).items).toEqual([]);
    const [{ left } = { left: '' }] = await test.database.query<{ left: string }>(
      `SELECT count(*) AS left FROM output_vault WHERE expires_at - ended_at < interval '23 hours 59 minutes'`,
    );
    expect(left).toBe('0');
  });
});

describe('output and console', () => {
  it('follow output at the host while the command runs, and return it from exec afterwards', async () => {
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    await test.ask(execRequests.submit, submit);
    const ref = test.ref(agentId, idOf(submit));
    expect(await test.ask(execRequests.followOutput, ref)).toEqual({
      kind: 'live',
      stream: { url: 'http://host/output', ticket: 't', host: HOST },
    });
    expect(test.fakes.requestsOf(runtimeRequests.openTransfer)).toEqual([
      { agentId, epoch: 1, transfer: { kind: 'output', executionId: idOf(submit) } },
    ]);
    test.fakes.on(runtimeRequests.openTransfer, () => {
      throw new DomainError('conflict', 'stale_epoch', 'm');
    });
    test.fakes.finish(idOf(submit), { stdout: 'all of it' });
    expect(await test.ask(execRequests.followOutput, ref)).toMatchObject({
      kind: 'ended',
      execution: { stdout: 'all of it' },
    });
  });

  it('wake the agent for a console, and again if it fell asleep in the meantime', async () => {
    test.fakes.first(runtimeRequests.openTransfer, 2, () => {
      throw new DomainError('conflict', 'stale_epoch', 'm');
    });
    const { commandId, accountId, actor } = aCommand(agentId);
    const open = { commandId, accountId, actor, agentId, cols: 80, rows: 24, refusedEpoch: null };
    const opened = await test.ask(execRequests.openConsole, open);
    expect(opened).toEqual({ url: 'http://host/console', ticket: 't', host: HOST, epoch: 3 });
    test.fakes.guest = { version: '0.9.0', capabilities: [] };
    await expect(test.ask(execRequests.openConsole, open)).rejects.toMatchObject({
      kind: 'unsupported',
      code: 'console_unsupported',
    });
  });
});

describe('public events', () => {
  it('report each execution once as submitted and ended, without command or output', async () => {
    const submit = aCommand(agentId, { command: 'PLAINTEXT' });
    await test.ask(execRequests.submit, submit);
    const published = await eventually(() => {
      const found = test.published.filter(({ subjectId }) => subjectId === idOf(submit));
      expect(found).toHaveLength(2);
      return found;
    });
    expect(published).toMatchObject([
      { subject: `evt.exec.submitted.v1.acc_1.${idOf(submit)}`, payload: { agentId, detached: false } },
      {
        subject: `evt.exec.ended.v1.acc_1.${idOf(submit)}`,
        payload: { agentId, status: 'completed', durationMs: expect.any(Number) },
      },
    ]);
    expect(JSON.stringify(published.map(({ payload }) => payload))).not.toContain('PLAINTEXT');
  });
});
