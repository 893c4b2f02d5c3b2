import { agentsRequests } from '@berth/contracts/agents';
import type { ExecutionView } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCommand, execRequests, idOf, startTestExec, type TestExec } from '../fixtures/exec.fixture.js';
import { lost } from '../fixtures/fake-services.fixture.js';

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

const cancel = (executionId: string): Promise<ExecutionView> => {
  const { commandId, accountId, actor } = aCommand(agentId);
  return test.ask(execRequests.cancel, { commandId, accountId, actor, agentId, executionId });
};

const running = async (): Promise<string> => {
  const submit = aCommand(agentId, { command: 'sleep', detached: true });
  await test.ask(execRequests.submit, submit);
  return idOf(submit);
};

const outcomes = async (executionId: string): Promise<readonly string[]> =>
  (await test.history(executionId)).filter((type) => type === 'ExecutionEnded');

describe('cancelling', () => {
  it('a running execution ends it with its partial output for every reader', async () => {
    const executionId = await running();
    const view = await cancel(executionId);
    expect(view).toEqual({ executionId, status: 'cancelled', exitCode: -1, stdout: 'partial', stderr: '' });
    expect(await test.get(agentId, executionId)).toEqual(view);
    expect(await cancel(executionId)).toEqual(view);
    await eventually(async () => expect(await outcomes(executionId)).toHaveLength(1));
  });

  it('an attached execution returns its end to both callers', async () => {
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.journal.has(idOf(submit)));
    const view = await cancel(idOf(submit));
    expect(view.status).toBe('cancelled');
    expect(await submitted).toEqual({ kind: 'execution', execution: view });
  });

  it('a finished execution returns its unchanged result without asking its host', async () => {
    const submit = aCommand(agentId, { command: 'out' });
    const submitted = await test.ask(execRequests.submit, submit);
    expect({ kind: 'execution', execution: await cancel(idOf(submit)) }).toEqual(submitted);
    expect(test.fakes.requestsOf(runtimeRequests.cancelExecution)).toEqual([]);
    await eventually(async () =>
      expect(await test.history(idOf(submit))).toEqual(['ExecutionSubmitted', 'ExecutionEnded']),
    );
  });

  it('never overrides an earlier completion, however many cancels are concurrent', async () => {
    const executionId = await running();
    const cancels = Array.from({ length: 10 }, () => cancel(executionId));
    test.fakes.finish(executionId, { stdout: 'won' });
    const views = await Promise.all(cancels);
    expect(new Set(views.map((view) => JSON.stringify(view))).size).toBe(1);
    expect(await test.get(agentId, executionId)).toEqual(views[0]);
    await eventually(async () => expect(await outcomes(executionId)).toHaveLength(1));
  });

  it('while the host is unreachable fails, stays requested, and is done when the host is back', async () => {
    const executionId = await running();
    const away = (): never => {
      throw lost();
    };
    test.fakes.on(runtimeRequests.cancelExecution, away);
    await expect(cancel(executionId)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    test.fakes.on(runtimeRequests.cancelExecution, ({ executionId: id }) => test.fakes.cancel(id));
    await eventually(async () => {
      expect(await test.get(agentId, executionId)).toMatchObject({ status: 'cancelled', stdout: 'partial' });
    });
  });

  it('a command in flight to the guest waits for it and ends it', async () => {
    const gate = Promise.withResolvers<void>();
    test.fakes.on(runtimeRequests.execute, async (command) => {
      await gate.promise;
      return test.fakes.execute(command);
    });
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.requestsOf(runtimeRequests.execute).length === 1);
    const cancelled = cancel(idOf(submit));
    await eventually(() => test.fakes.requestsOf(runtimeRequests.cancelExecution).length > 1);
    gate.resolve();
    expect((await cancelled).status).toBe('cancelled');
    expect(await submitted).toMatchObject({ execution: { status: 'cancelled' } });
  });

  it('a command that waits for the agent’s next epoch prevents its start', async () => {
    const gate = Promise.withResolvers<void>();
    test.fakes.on(runtimeRequests.execute, () => {
      throw new DomainError('conflict', 'stale_epoch', 'm');
    });
    test.fakes.on(agentsRequests.ensureAwake, async ({ agentId: id, refusedEpoch }) => {
      if (refusedEpoch !== null) await gate.promise;
      return test.fakes.ensureAwake(id, refusedEpoch);
    });
    const submit = aCommand(agentId);
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.requestsOf(agentsRequests.ensureAwake).length === 2);
    const cancelled = cancel(idOf(submit));
    await eventually(() => test.fakes.requestsOf(runtimeRequests.cancelExecution).length > 0);
    gate.resolve();
    const view = { executionId: idOf(submit), status: 'cancelled', exitCode: -1, stdout: '', stderr: '' };
    expect(await cancelled).toEqual(view);
    expect(await submitted).toEqual({ kind: 'execution', execution: view });
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toHaveLength(1);
  });

  it('an execution whose process died before it dispatched the command ends it', async () => {
    const executionId = await test.abandon(agentId);
    test.fakes.awake = false;
    const { commandId, accountId, actor } = aCommand(agentId);
    await test.streams.handle(
      executionId,
      { type: 'RequestCancel', at: new Date().toISOString() },
      { commandId, accountId, actor },
    );
    await eventually(async () => {
      expect(await test.get(agentId, executionId)).toMatchObject({ status: 'cancelled', exitCode: -1 });
    });
    expect(test.fakes.starts.size).toBe(0);
  });
});
