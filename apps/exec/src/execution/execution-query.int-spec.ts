import { newId } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestExec, type TestExec } from '../fixtures/exec.fixture.js';
import { ExecutionHosts } from '../host/execution-host.js';
import { OutputVault, viewOf, type Result } from '../output/output-vault.js';
import type { Execution } from './execution.js';
import { ExecutionQuery } from './execution.query.js';
import { ExecutionRepository } from './execution.repository.js';
import type { ExecutionStreams } from './execution.streams.js';

let test: TestExec;

beforeAll(async () => {
  test = await startTestExec();
  // It would end the executions of this file itself.
  await test.stopService();
});
afterAll(() => test.stop());

/** Tells when it has been read for the first time. */
class WatchedVault extends OutputVault {
  readonly firstRead = Promise.withResolvers<Result | null>();

  override async find(executionId: string): Promise<Result | null> {
    const found = await super.find(executionId);
    this.firstRead.resolve(found);
    return found;
  }
}

/** Reads the log once `before` has ended. */
class LateRepository extends ExecutionRepository {
  constructor(
    streams: ExecutionStreams,
    vault: OutputVault,
    private readonly before: () => Promise<unknown>,
  ) {
    super(streams, vault);
  }

  override async load(executionId: string): Promise<Execution> {
    await this.before();
    return super.load(executionId);
  }
}

/** A running execution, a query of it, and the result with which it ends after the query has read the vault. */
const endedMeanwhile = async (afterEnd: (executionId: string) => Promise<unknown>) => {
  const agentId = newId('agt');
  const executionId = await test.abandon(agentId);
  const ref = test.ref(agentId, executionId);
  const at = new Date().toISOString();
  const output = { status: 'completed', exitCode: 0, stdout: 'done', stderr: '' } as const;
  const result: Result = { ...ref, ...output, startedAt: at, endedAt: at };
  const vault = new WatchedVault(test.database);
  const executions = new LateRepository(test.streams, vault, async () => {
    expect(await vault.firstRead.promise).toBeNull();
    await new ExecutionRepository(test.streams, new OutputVault(test.database)).end(result);
    await afterEnd(executionId);
  });
  const requester = new Requester(test.link);
  const stopping = new AbortController().signal;
  const hosts = new ExecutionHosts(requester);
  return { result, ref, query: new ExecutionQuery(executions, vault, hosts, requester, { stopping }) };
};

it('an execution that ends between the reads of its result and of the log is returned with its result', async () => {
  const { query, ref, result } = await endedMeanwhile(() => Promise.resolve());
  expect(await query.get(ref)).toEqual(viewOf(result));
});

it('an ended execution whose result is no longer stored is not found', async () => {
  const { query, ref } = await endedMeanwhile((executionId) =>
    test.database.query('DELETE FROM output_vault WHERE execution_id = $1', [executionId]),
  );
  await expect(query.get(ref)).rejects.toMatchObject({ kind: 'not_found', code: 'execution_not_found' });
});
