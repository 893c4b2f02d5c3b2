import { AgentClient } from '@berth/agent-client';
import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type ExecuteCommand, type ExecutionOutcome } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ExecutionRepository } from '../execution/execution.repository.js';
import { aCommand, execRequests, idOf, startTestExec, type TestExec } from '../fixtures/exec.fixture.js';
import { lost } from '../fixtures/fake-services.fixture.js';
import { ExecutionHosts } from '../host/execution-host.js';
import { OutputVault } from '../output/output-vault.js';
import { AgentDispatcher, type DispatchResult } from './agent-dispatcher.js';
import { ReroutedExecutions } from './rerouted-executions.js';
import { Wake } from './wake.js';

let test: TestExec;
let agentId: string;

beforeAll(async () => {
  // The reconciler does not run, so that each case shows the submission alone.
  test = await startTestExec({ pace: { tick: 1_000, olderThan: 600_000 } });
});
afterAll(() => test.stop());
beforeEach(() => {
  test.fakes.reset();
  agentId = newId('agt');
});

const refuse = (kind: 'conflict' | 'not_found' | 'invalid' | 'unavailable', code: string) => (): never => {
  throw new DomainError(kind, code, 'm');
};

/** The host runs the command, and its reply is lost. */
const doneButLost = async (command: ExecuteCommand): Promise<ExecutionOutcome> => {
  await test.fakes.execute({ ...command, wait: false });
  throw lost();
};

const notStarted = { code: 'guest_command_unavailable', context: { execution_started: false } };

const submitting = async (
  members: Parameters<typeof aCommand>[1] = {},
): Promise<{ executionId: string; response: unknown }> => {
  const submit = aCommand(agentId, members);
  const response = await test.ask(execRequests.submit, submit).catch((error: unknown) => error);
  return { executionId: idOf(submit), response };
};

const isUnknownId = async (executionId: string): Promise<void> => {
  await expect(test.get(agentId, executionId)).rejects.toMatchObject({ code: 'execution_not_found' });
  expect((await test.list(agentId)).items).toEqual([]);
};

describe('a command that certainly did not start', () => {
  it('because its host is unreachable is reported as not started, and its id is unknown', async () => {
    test.fakes.on(agentsRequests.ensureAwake, ({ agentId: id }) => ({
      ...test.fakes.ensureAwake(id, null),
      host: 'hst-nowhere',
    }));
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionRefused']);
    await isUnknownId(executionId);
  });

  it('because the guest rejected it is reported as not started and not sent again', async () => {
    test.fakes.on(runtimeRequests.execute, refuse('unavailable', 'guest_command_unavailable'));
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toHaveLength(1);
    await isUnknownId(executionId);
  });

  it.each([
    ['its folder does not exist', 'invalid_cwd'],
    ['it is too large together with its environment', 'invalid_command'],
  ])('because %s gets the error of the guest', async (_, code) => {
    test.fakes.on(runtimeRequests.execute, refuse('invalid', code));
    const { executionId, response } = await submitting({ cwd: 'nowhere' });
    expect(response).toMatchObject({ kind: 'invalid', code });
    await isUnknownId(executionId);
  });

  it('because the reply was lost and the agent fell asleep without it is reported as not started', async () => {
    test.fakes.on(runtimeRequests.execute, () => {
      test.fakes.awake = false;
      throw lost();
    });
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionRefused']);
  });

  it('because the agent was restarted without it is reported as not started', async () => {
    test.fakes.on(runtimeRequests.execute, () => {
      test.fakes.epoch += 1;
      throw lost();
    });
    expect((await submitting()).response).toMatchObject(notStarted);
  });

  it('because the agent falls asleep each time is abandoned after five tries', async () => {
    test.fakes.on(runtimeRequests.execute, refuse('conflict', 'stale_epoch'));
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toHaveLength(5);
    await isUnknownId(executionId);
  });

  it('because the agent could not be woken again gets the reason', async () => {
    test.fakes.on(runtimeRequests.execute, refuse('conflict', 'stale_epoch'));
    for (const [kind, code, reported] of [
      ['conflict', 'agent_deploying', 'vm_not_ready'],
      ['conflict', 'agent_stopped', 'guest_command_unavailable'],
      ['not_found', 'agent_not_found', 'agent_not_found'],
    ] as const) {
      test.fakes.on(agentsRequests.ensureAwake, ({ refusedEpoch, agentId: id }) => {
        if (refusedEpoch !== null) throw new DomainError(kind, code, 'm');
        return test.fakes.ensureAwake(id, null);
      });
      const { executionId, response } = await submitting();
      expect(response).toMatchObject({ code: reported });
      expect((await test.history(executionId)).at(-1)).toBe('ExecutionRefused');
    }
  });
});

describe('a command whose agent had fallen asleep on its host', () => {
  it.each(['stale_epoch', 'agent_not_on_host'])('(%s) runs in the next epoch', async (code) => {
    test.fakes.first(runtimeRequests.execute, 2, ({ epoch }) => {
      test.fakes.awake = false;
      return refuse('conflict', code)() ?? epoch;
    });
    const { executionId, response } = await submitting();
    expect(response).toMatchObject({ execution: { status: 'completed' } });
    expect(test.fakes.starts.get(executionId)).toBe(1);
    expect(test.fakes.requestsOf(agentsRequests.ensureAwake).map(({ refusedEpoch }) => refusedEpoch)).toEqual(
      [null, 1, 2],
    );
    await eventually(async () =>
      expect(await test.history(executionId)).toEqual([
        'ExecutionSubmitted',
        'ExecutionRerouted',
        'ExecutionRerouted',
        'ExecutionEnded',
      ]),
    );
  });
});

describe('a command that may have started', () => {
  it('returns its result although each reply of the host is lost once', async () => {
    test.fakes.first(runtimeRequests.execute, 1, doneButLost);
    test.fakes.first(runtimeRequests.findExecution, 1, () => {
      throw lost();
    });
    const { executionId, response } = await submitting({ command: 'out' });
    expect(response).toMatchObject({ execution: { status: 'completed', stdout: 'out' } });
    expect(test.fakes.starts.get(executionId)).toBe(1);
  });

  it('is awaited if it turns out to run', async () => {
    test.fakes.first(runtimeRequests.execute, 1, doneButLost);
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.requestsOf(runtimeRequests.findExecution).length > 0);
    test.fakes.finish(idOf(submit), { stdout: 'late' });
    expect(await submitted).toMatchObject({ execution: { stdout: 'late' } });
  });

  it('and is detached is returned as running if it turns out to run', async () => {
    test.fakes.first(runtimeRequests.execute, 1, doneButLost);
    const { response } = await submitting({ command: 'sleep', detached: true });
    expect(response).toMatchObject({ execution: { status: 'running' } });
  });

  it('is sent again under its id while the guest can start it, and runs once', async () => {
    let first: ExecuteCommand | undefined;
    test.fakes.first(runtimeRequests.execute, 1, (command) => {
      first = command;
      throw lost();
    });
    const { executionId, response } = await submitting();
    expect(response).toMatchObject({ execution: { status: 'completed' } });
    // The first request arrives late.
    if (first !== undefined) await test.fakes.execute(first);
    expect(test.fakes.starts.get(executionId)).toBe(1);
    const sent = test.fakes.requestsOf(runtimeRequests.execute);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
  });

  it('is never reported as not started because a later request was rejected', async () => {
    const refusals = [
      ['conflict', 'stale_epoch'],
      ['not_found', 'agent_not_on_host'],
      ['invalid', 'invalid_cwd'],
      ['invalid', 'invalid_command'],
      ['unavailable', 'guest_command_unavailable'],
    ] as const;
    const sent = new Set<string>();
    test.fakes.on(runtimeRequests.execute, ({ executionId, command }) => {
      if (!sent.has(executionId)) {
        sent.add(executionId);
        throw lost();
      }
      const [kind, code] = refusals[Number(command)] ?? refusals[0];
      return refuse(kind, code)();
    });
    const responses = await Promise.all(refusals.map((_, index) => submitting({ command: String(index) })));
    for (const { executionId, response } of responses) {
      expect(response).toMatchObject({
        kind: 'upstream',
        code: 'execution_outcome_unknown',
        context: { executionId },
      });
      expect(await test.history(executionId)).toEqual(['ExecutionSubmitted']);
      expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    }
  });

  it('has an unknown outcome with its id if its host is gone, and stays running', async () => {
    test.fakes.on(runtimeRequests.execute, doneButLost);
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw lost();
    });
    const begunAt = Date.now();
    const { executionId, response } = await submitting();
    expect(response).toMatchObject({ code: 'execution_outcome_unknown', context: { executionId } });
    expect(response).not.toHaveProperty('context.execution_started');
    expect(Date.now() - begunAt).toBeLessThan(8_000);
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running', exitCode: null });
  });

  it('has an unknown outcome if the journal loses its record', async () => {
    test.fakes.on(runtimeRequests.execute, doneButLost);
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit).catch((error: unknown) => error);
    await eventually(() => test.fakes.requestsOf(runtimeRequests.findExecution).length > 1);
    test.fakes.finish(idOf(submit));
    test.fakes.journal.delete(idOf(submit));
    expect(await submitted).toMatchObject({ code: 'execution_outcome_unknown' });
  });

  it.each(['guest_unreachable', 'execution_outcome_unknown'])(
    'is looked up in the journal after %s',
    async (code) => {
      test.fakes.first(runtimeRequests.execute, 1, async (command) => {
        await test.fakes.execute(command);
        return refuse('unavailable', code)();
      });
      expect((await submitting()).response).toMatchObject({ execution: { status: 'completed' } });
    },
  );
});

describe('a submission while the log is unavailable', () => {
  it('dispatches nothing and reports that the command did not start, and its id is unknown once the log is back', async () => {
    test.storeProxy.cut({ refuse: true });
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    test.storeProxy.restore();
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toEqual([]);
    await eventually(() => isUnknownId(executionId));
  });

  it('dispatches nothing if only the reply of the log is lost, and withdraws the execution', async () => {
    test.storeProxy.dropResponses();
    const { executionId, response } = await submitting();
    expect(response).toMatchObject(notStarted);
    test.storeProxy.cut();
    await eventually(async () => {
      expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionRefused']);
    });
    expect(test.fakes.requestsOf(runtimeRequests.execute)).toEqual([]);
  });
});

describe('a process that was suspended between accepting a command and dispatching it', () => {
  const dispatch = async (executionId: string, suspendedMs: number): Promise<DispatchResult> => {
    const requester = new Requester(test.link);
    const executions = new ExecutionRepository(test.streams, new OutputVault(test.database));
    const rerouted = new ReroutedExecutions(test.database);
    const task = {
      owned: test.ref(agentId, executionId),
      submit: aCommand(agentId),
      timeoutMs: 60_000,
      acceptedAt: Date.now() - suspendedMs,
    };
    const parts = [
      new ExecutionHosts(requester),
      new Wake(new AgentClient(requester)),
      executions,
      rerouted,
    ] as const;
    return new AgentDispatcher(...parts).run(task, test.fakes.ensureAwake(agentId, null));
  };

  it('does not dispatch a command that was given up or is to be cancelled', async () => {
    const at = new Date().toISOString();
    const ended = await test.abandon(agentId);
    const refusal = { type: 'Refuse', code: 'lost', at } as const;
    await test.streams.handle(ended, refusal, { ...aCommand(agentId) });
    const cancelled = await test.abandon(agentId);
    await test.streams.handle(cancelled, { type: 'RequestCancel', at }, { ...aCommand(agentId) });
    for (const executionId of [ended, cancelled])
      expect(await dispatch(executionId, 6_000)).toEqual({ kind: 'overtaken' });
    expect(test.fakes.starts.size).toBe(0);
  });

  it('dispatches a command that is still running', async () => {
    const executionId = await test.abandon(agentId);
    expect(await dispatch(executionId, 6_000)).toMatchObject({ kind: 'started' });
    expect(test.fakes.starts.get(executionId)).toBe(1);
  });
});
