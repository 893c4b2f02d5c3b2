import { agentsRequests } from '@berth/contracts/agents';
import type { ExecutionView } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ExecutionRepository } from '../execution/execution.repository.js';
import { FollowedExecutions } from '../execution/followed-executions.js';
import { aCommand, execRequests, idOf, startTestExec, type TestExec } from '../fixtures/exec.fixture.js';
import { done, HOST, lost } from '../fixtures/fake-services.fixture.js';
import { ExecutionHosts } from '../host/execution-host.js';
import { OutputVault } from '../output/output-vault.js';
import { ReroutedExecutions } from '../submission/rerouted-executions.js';
import { Settlement } from './settlement.js';

const NEVER_MS = 3_600_000;
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

const ends = (executionId: string, expected: Partial<ExecutionView>): Promise<void> =>
  eventually(async () => expect(await test.get(agentId, executionId)).toMatchObject(expected), {
    timeoutMs: 10_000,
  });

/** A settlement like in another process: it does not know this process's waiting callers, and gives up at once. */
const inAnotherProcess = (inFlight = 0): Settlement => {
  const hosts = new ExecutionHosts(new Requester(test.link));
  const vault = new OutputVault(test.database);
  const executions = new ExecutionRepository(test.streams, vault);
  const log = createLogger({ service: 'test', level: 'silent' });
  const followed = new FollowedExecutions(hosts, executions, log, { stopping: new AbortController().signal });
  const giveUpAfter = { absent: 0, preclude: 0, inFlight, missing: 0 };
  const rerouted = new ReroutedExecutions(test.database);
  return new Settlement(executions, vault, hosts, followed, rerouted, { giveUpAfter });
};

/** How often the host was queried for the execution. */
const queriesFor = (executionId: string): number =>
  test.fakes.requestsOf(runtimeRequests.findExecution).filter((find) => find.executionId === executionId)
    .length;

const nothing = { exitCode: -1, stdout: '', stderr: '' };

describe('an execution whose process died', () => {
  it('before it dispatched the command ends as failed once the command can no longer start', async () => {
    const executionId = await test.abandon(agentId);
    await ends(executionId, { status: 'failed', ...nothing });
    expect(test.fakes.starts.size).toBe(0);
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionEnded']);
  });

  it('before it dispatched the command ends at once if the guest can preclude its start', async () => {
    const executionId = await test.abandon(agentId);
    await inAnotherProcess(NEVER_MS).settle({ executionId, agentEnded: false });
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'failed', ...nothing });
    test.fakes.begin(executionId, 'too late');
    expect(test.fakes.starts.size).toBe(0);
  });

  it('is not ended by a guest that has started the command in the meantime, or cannot preclude it', async () => {
    test.fakes.on(runtimeRequests.precludeExecution, () => {
      throw new DomainError('unsupported', 'guest_route_unknown', 'No such route.');
    });
    const executionId = await test.abandon(agentId);
    const settlement = inAnotherProcess(NEVER_MS);
    await settlement.settle({ executionId, agentEnded: false });
    test.fakes.on(runtimeRequests.precludeExecution, (which) => {
      test.fakes.begin(executionId, 'in time');
      return test.fakes.preclude(which);
    });
    await settlement.settle({ executionId, agentEnded: false });
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted']);
    await ends(executionId, { status: 'completed', stdout: 'in time' });
  });

  it('while the command runs ends with the later report of the guest', async () => {
    const executionId = await test.abandon(agentId);
    test.fakes.begin(executionId, 'sleep');
    await eventually(() => queriesFor(executionId) > 0);
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    test.fakes.finish(executionId, { stdout: 'late', exitCode: 4 });
    await ends(executionId, { status: 'completed', stdout: 'late', exitCode: 4 });
  });

  it('after the command ended ends with the record of the journal', async () => {
    const executionId = await test.abandon(agentId);
    test.fakes.journal.set(executionId, done({ status: 'timed_out', exitCode: -1, stdout: 'part' }));
    await ends(executionId, { status: 'timed_out', exitCode: -1, stdout: 'part' });
  });

  it('while the guest was silent ends with the outcome of the command that the guest starts later', async () => {
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw lost();
    });
    const executionId = await test.abandon(agentId);
    // Longer than `giveUpAfter.inFlight`.
    await eventually(() => queriesFor(executionId) > 18, { timeoutMs: 15_000 });
    const silent = queriesFor(executionId);
    test.fakes.on(runtimeRequests.findExecution, (find) => test.fakes.find(find));
    await eventually(() => queriesFor(executionId) > silent + 2);
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    test.fakes.begin(executionId, 'begun late');
    await ends(executionId, { status: 'completed', stdout: 'begun late' });
  });

  it('after storing the result ends with that result, even if the host is unreachable', async () => {
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw lost();
    });
    const executionId = await test.abandon(agentId);
    await test.database.query(
      `INSERT INTO output_vault (execution_id, account_id, agent_id, status, exit_code, stdout, stderr, ended_at, expires_at)
       VALUES ($1, 'acc_1', $2, 'completed', 5, 'kept', '', now(), now() + interval '1 day')`,
      [executionId, agentId],
    );
    await eventually(async () => expect(await test.history(executionId)).toContain('ExecutionEnded'));
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'completed', stdout: 'kept' });
  });

  it('is not given up while another process wakes the agent for it', async () => {
    const executionId = await test.abandon(agentId);
    test.fakes.awake = false;
    await test.database.query(
      `INSERT INTO rerouting (execution_id, until) VALUES ($1, now() + interval '2500 milliseconds')`,
      [executionId],
    );
    await eventually(() => queriesFor(executionId) > 8);
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    await ends(executionId, { status: 'failed', ...nothing });
  });
});

describe('a command whose agent is woken again for it', () => {
  it('is not given up by another process', async () => {
    const gate = Promise.withResolvers<void>();
    test.fakes.awake = false;
    test.fakes.on(agentsRequests.ensureAwake, async ({ agentId: id, refusedEpoch }) => {
      if (refusedEpoch === null) return { agentId: id, host: HOST, epoch: 1, guest: test.fakes.guest };
      await gate.promise;
      return test.fakes.ensureAwake(id, refusedEpoch);
    });
    const submit = aCommand(agentId);
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.requestsOf(agentsRequests.ensureAwake).length === 2);
    await inAnotherProcess().settle({ executionId: idOf(submit), agentEnded: false });
    expect(await test.history(idOf(submit))).toEqual(['ExecutionSubmitted']);
    gate.resolve();
    expect(await submitted).toMatchObject({ execution: { status: 'completed' } });
    expect(test.fakes.starts.get(idOf(submit))).toBe(1);
  });
});

describe('executions of an agent that ends', () => {
  const detached = async (): Promise<string> => {
    const submit = aCommand(agentId, { command: 'sleep', detached: true });
    await test.ask(execRequests.submit, submit);
    return idOf(submit);
  };

  it.each(['fellAsleep', 'stopped', 'failed'] as const)(
    '(%s) end as recorded in the journal',
    async (name) => {
      const [killed, finished] = [await detached(), await detached()];
      test.fakes.on(runtimeRequests.findExecution, ({ executionId }) => ({
        state: 'known' as const,
        outcome:
          executionId === killed
            ? done({ status: 'failed', exitCode: -1, stdout: 'partial' })
            : done({ stdout: 'in time' }),
      }));
      test.fakes.awake = false;
      await test.publishOfAgent(name, agentId, 1);
      await ends(killed, { status: 'failed', exitCode: -1, stdout: 'partial' });
      await ends(finished, { status: 'completed', stdout: 'in time' });
    },
  );

  it('(deleted) end as failed if no data is left', async () => {
    const executionId = await detached();
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw new DomainError('not_found', 'agent_not_on_host', 'm');
    });
    await test.publishOfAgent('deleted', agentId, 0);
    await eventually(async () => {
      expect((await test.store.read(`execution-${executionId}`)).at(-1)?.data).toMatchObject({
        status: 'failed',
        exitCode: -1,
      });
    });
  });

  it('(host lost) end as failed if the host does not return, and not before', async () => {
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw lost();
    });
    const executionId = await test.abandon(agentId);
    // Longer than `giveUpAfter.missing`.
    await eventually(() => queriesFor(executionId) > 20, { timeoutMs: 15_000 });
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
    await test.publishOfAgent('failed', agentId, 1);
    await ends(executionId, { status: 'failed', ...nothing });
  });

  it('(host lost) get the outcome from the host if it returns in time', async () => {
    test.fakes.on(runtimeRequests.findExecution, () => {
      throw lost();
    });
    const executionId = await test.abandon(agentId);
    await test.publishOfAgent('failed', agentId, 1);
    await eventually(() => queriesFor(executionId) > 1);
    test.fakes.on(runtimeRequests.findExecution, () => ({
      state: 'known' as const,
      outcome: done({ stdout: 'saved' }),
    }));
    await ends(executionId, { status: 'completed', stdout: 'saved' });
  });

  it('continue if their host counted as lost and returns with the agent', async () => {
    const executionId = await detached();
    await test.publishOfAgent('failed', agentId, 1);
    await test.publishOfAgent('started', agentId, 1);
    await eventually(async () => {
      const [row] = await test.database.query<{ epoch: string }>(
        'SELECT epoch FROM agent_ending WHERE agent_id = $1',
        [agentId],
      );
      expect(row).toEqual({ epoch: '0' });
    });
    // Longer than `giveUpAfter.missing`.
    const other = await test.abandon(newId('agt'));
    test.fakes.on(runtimeRequests.findExecution, (find) => {
      if (find.executionId === other) throw lost();
      return test.fakes.find(find);
    });
    await eventually(() => queriesFor(other) > 15, { timeoutMs: 15_000 });
    test.fakes.finish(executionId, { stdout: 'on' });
    await ends(executionId, { status: 'completed', stdout: 'on' });
  });

  it('continue if they belong to a later epoch', async () => {
    test.fakes.epoch = 5;
    const executionId = await detached();
    const sibling = await test.abandon(agentId, { epoch: 4 });
    await test.publishOfAgent('fellAsleep', agentId, 4);
    await ends(sibling, { status: 'failed' });
    expect(await test.get(agentId, executionId)).toMatchObject({ status: 'running' });
  });

  it('end once, however often the event is received', async () => {
    const executionId = await detached();
    test.fakes.on(runtimeRequests.findExecution, () => ({
      state: 'known' as const,
      outcome: done({ status: 'failed', exitCode: -1 }),
    }));
    await test.publishOfAgent('stopped', agentId, 1);
    await test.publishOfAgent('stopped', agentId, 1);
    await ends(executionId, { status: 'failed' });
    const types = await test.history(executionId);
    expect(types).toEqual(['ExecutionSubmitted', 'ExecutionEnded']);
  });
});

describe('while the tables are unavailable', () => {
  it('a result is never returned before it is stored: the outcome is unknown, and the result is stored later', async () => {
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit).catch((error: unknown) => error);
    await eventually(() => test.fakes.journal.has(idOf(submit)));
    test.databaseProxy.cut({ refuse: true });
    test.fakes.finish(idOf(submit), { stdout: 'kept later' });
    const begunAt = Date.now();
    expect(await submitted).toMatchObject({
      kind: 'upstream',
      code: 'execution_outcome_unknown',
      context: { executionId: idOf(submit) },
    });
    expect(Date.now() - begunAt).toBeLessThan(9_000);
    test.databaseProxy.restore();
    await ends(idOf(submit), { status: 'completed', stdout: 'kept later' });
    expect(test.fakes.requestsOf(agentsRequests.ensureAwake)).toHaveLength(1);
  });

  it('a short outage only delays the result', async () => {
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = test.ask(execRequests.submit, submit);
    await eventually(() => test.fakes.journal.has(idOf(submit)));
    test.databaseProxy.cut({ refuse: true });
    test.fakes.finish(idOf(submit), { stdout: 'blink' });
    await eventually(() => test.databaseProxy.connections === 0);
    test.databaseProxy.restore();
    expect(await submitted).toMatchObject({ execution: { stdout: 'blink' } });
  });
});
