import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type ExecuteCommand, type ExecutionOutcome } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ExecutionRepository } from '../execution/execution.repository.js';
import {
  aCommand,
  aSubmission,
  execRequests,
  idOf,
  QUICK,
  startTestExec,
  type TestExec,
} from '../fixtures/exec.fixture.js';
import { OutputVault } from '../output/output-vault.js';
import { AcceptedPositions } from './accepted-positions.js';
import { RefusalRecorder } from './refusal-recorder.js';

let test: TestExec;
let agentId: string;

beforeAll(async () => {
  test = await startTestExec({ pace: { tick: 1_000, olderThan: 600_000 } });
});
afterAll(() => test.stop());
beforeEach(() => {
  test.fakes.reset();
  agentId = newId('agt');
});

const stopped = (): never => {
  throw new DomainError('conflict', 'agent_stopped', 'm');
};
const notStarted = { code: 'guest_command_unavailable', context: { execution_started: false } };
const refusalOf = (response: Promise<unknown>): Promise<unknown> => response.catch((error: unknown) => error);

describe('a repeated submission', () => {
  it('of a command that ran returns its outcome, even if the agent no longer accepts commands', async () => {
    const submit = aCommand(agentId);
    const first = await test.ask(execRequests.submit, submit);
    test.fakes.on(agentsRequests.ensureAwake, stopped);
    expect(await test.ask(execRequests.submit, { ...submit, repeated: true })).toEqual(first);
    expect(test.fakes.starts.get(idOf(submit))).toBe(1);
  });

  it('of a command that never arrived runs it', async () => {
    const submit = aCommand(agentId, { repeated: true });
    expect(await test.ask(execRequests.submit, submit)).toMatchObject({
      execution: { executionId: idOf(submit), status: 'completed' },
    });
  });

  it('that is rejected prevents a first attempt that arrives later from running', async () => {
    const submit = aCommand(agentId);
    test.fakes.first(agentsRequests.ensureAwake, 1, stopped);
    const repeated = { ...submit, repeated: true };
    const refusedForGood = { ...notStarted, effect: 'final' };
    expect(await refusalOf(test.ask(execRequests.submit, repeated))).toMatchObject(refusedForGood);
    expect(await test.history(idOf(submit))).toEqual(['ExecutionRefused']);
    expect(await refusalOf(test.ask(execRequests.submit, repeated))).toMatchObject(refusedForGood);
    expect(await refusalOf(test.ask(execRequests.submit, submit))).toMatchObject(refusedForGood);
    expect(test.fakes.starts.get(idOf(submit))).toBeUndefined();
    expect((await test.list(agentId)).items).toEqual([]);
  });

  it('has an unknown outcome while the log is unavailable', async () => {
    const submit = aCommand(agentId, { repeated: true });
    test.storeProxy.cut({ refuse: true });
    try {
      expect(await refusalOf(test.ask(execRequests.submit, submit))).toMatchObject({
        code: 'execution_outcome_unknown',
        context: { executionId: idOf(submit) },
      });
    } finally {
      test.storeProxy.restore();
    }
  });

  it('to an older guest is not run, because the first attempt may have run', async () => {
    test.fakes.guest = { version: '0.9.0', capabilities: [] };
    const response = await refusalOf(test.ask(execRequests.submit, aCommand(agentId, { repeated: true })));
    expect(response).toMatchObject({ code: 'execution_outcome_unknown' });
    expect(test.fakes.requestsOf(runtimeRequests.executeLegacy)).toEqual([]);
  });
});

describe('a detached command that arrives twice', () => {
  it('is accepted only after the first attempt has started, and rejected if that is rejected', async () => {
    const host = Promise.withResolvers<ExecutionOutcome>();
    test.fakes.on(runtimeRequests.execute, () => host.promise);
    const submit = aCommand(agentId, { detached: true });
    const first = refusalOf(test.ask(execRequests.submit, submit));
    await eventually(() => test.fakes.requestsOf(runtimeRequests.execute).length === 1);
    const second = refusalOf(test.ask(execRequests.submit, submit));
    await eventually(() => test.fakes.requestsOf(runtimeRequests.findExecution).length > 1);
    host.reject(new DomainError('unavailable', 'guest_command_unavailable', 'm'));
    expect(await first).toMatchObject(notStarted);
    expect(await second).toMatchObject(notStarted);
  });

  it('is accepted if the first attempt runs, even without a reply from the host', async () => {
    const { promise, resolve } = Promise.withResolvers<ExecuteCommand>();
    const silent = Promise.withResolvers<ExecutionOutcome>();
    test.fakes.on(runtimeRequests.execute, (command) => {
      resolve(command);
      return silent.promise;
    });
    const submit = aCommand(agentId, { detached: true, command: 'sleep' });
    const first = test.ask(execRequests.submit, submit);
    const sent = await promise;
    const running = await test.fakes.execute(sent);
    const second = await test.ask(execRequests.submit, submit);
    expect(second).toMatchObject({ execution: { executionId: sent.executionId, status: 'running' } });
    silent.resolve(running);
    expect(await first).toEqual(second);
    test.fakes.finish(sent.executionId);
  });
});

describe('an attempt whose acceptance seemed to fail', () => {
  it('is withdrawn if it was accepted, but not if the log accepted another one', async () => {
    const executions = new ExecutionRepository(test.streams, new OutputVault(test.database));
    const log = createLogger({ service: 'test', level: 'silent' });
    const context = { stopping: new AbortController().signal };
    const refusals = new RefusalRecorder(executions, new AcceptedPositions(test.database), log, context);
    const executionId = await test.abandon(agentId, { attempt: 'accepted' });
    const owned = test.ref(agentId, executionId);
    await refusals.withdraw(owned, 'not accepted', 'x');
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted']);
    await refusals.withdraw(owned, 'accepted', 'x');
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionRefused']);
  });
});

describe('an execution that another process accepted and did not dispatch', () => {
  let reconciling: TestExec;

  beforeAll(async () => {
    reconciling = await startTestExec(QUICK);
  });
  afterAll(() => reconciling.stop());

  it.each([false, true])('ends although a repetition waits for it (detached: %s)', async (detached) => {
    const submit = aCommand(agentId, { repeated: true, detached });
    reconciling.fakes.first(agentsRequests.ensureAwake, 1, async () => {
      const first = { type: 'Submit', ...aSubmission(submit) } as const;
      await reconciling.streams.handle(idOf(submit), first, submit);
      return reconciling.fakes.ensureAwake(agentId, null);
    });
    expect(await reconciling.ask(execRequests.submit, submit, { deadlineMs: 15_000 })).toMatchObject({
      execution: { executionId: idOf(submit), status: 'failed', exitCode: -1 },
    });
    expect(reconciling.fakes.starts.size).toBe(0);
    await eventually(async () =>
      expect(await reconciling.history(idOf(submit))).toEqual(['ExecutionSubmitted', 'ExecutionEnded']),
    );
  });
});
