import type { ExecutionSummary } from '@berth/contracts/exec';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aCommand, execRequests, idOf, startTestExec, type TestExec } from '../fixtures/exec.fixture.js';

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

const pages = async (limit: number, status: ExecutionSummary['status'] | null): Promise<string[][]> => {
  const found: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof test.list>> = await test.list(agentId, { limit, cursor, status });
    found.push(page.items.map(({ executionId }) => executionId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
};

describe('the list of executions', () => {
  it('contains everything that was returned before, on every instance', async () => {
    const other = await test.another();
    for (let round = 0; round < 15; round++) {
      const detached = aCommand(agentId, { command: 'sleep', detached: true });
      await test.ask(execRequests.submit, detached);
      // Both instances receive requests, so some lists come from the one that did not run the command.
      for (let query = 0; query < 3; query++)
        expect((await test.list(agentId, { limit: 1 })).items).toMatchObject([
          { executionId: idOf(detached), status: 'running', exitCode: null, detached: true, timeout: 3_600 },
        ]);
      const attached = aCommand(agentId);
      await test.ask(execRequests.submit, attached);
      expect((await test.list(agentId, { limit: 1 })).items).toMatchObject([
        { executionId: idOf(attached), status: 'completed', exitCode: 0, detached: false, timeout: 60 },
      ]);
      const { commandId, accountId, actor } = aCommand(agentId);
      const cancel = { commandId, accountId, actor, agentId, executionId: idOf(detached) };
      await test.ask(execRequests.cancel, cancel);
      expect((await test.list(agentId, { limit: 2 })).items[1]).toMatchObject({
        status: 'cancelled',
        exitCode: -1,
      });
    }
    await other.stop();
  });

  it('contains each execution once, newest first, even if others are submitted between two pages', async () => {
    const submits = Array.from({ length: 7 }, () => aCommand(agentId));
    for (const submit of submits) await test.ask(execRequests.submit, submit);
    const newestFirst = submits.map(idOf).sort().reverse();
    expect(await pages(3, null)).toEqual([
      newestFirst.slice(0, 3),
      newestFirst.slice(3, 6),
      newestFirst.slice(6),
    ]);
    const first = await test.list(agentId, { limit: 3 });
    await test.ask(execRequests.submit, aCommand(agentId));
    const second = await test.list(agentId, { limit: 3, cursor: first.nextCursor });
    expect(second.items.map(({ executionId }) => executionId)).toEqual(newestFirst.slice(3, 6));
  });

  it('contains one status if requested, and only executions of the account', async () => {
    const running = aCommand(agentId, { command: 'sleep', detached: true });
    const ended = aCommand(agentId);
    for (const submit of [running, ended]) await test.ask(execRequests.submit, submit);
    expect(await pages(50, 'running')).toEqual([[idOf(running)]]);
    expect(await pages(50, 'completed')).toEqual([[idOf(ended)]]);
    expect(await pages(50, 'failed')).toEqual([[]]);
    expect((await test.list(agentId, { accountId: 'acc_2' })).items).toEqual([]);
  });

  it('rejects cursors that it did not create', async () => {
    for (const cursor of ['x', '!', Buffer.from('{"before":5}').toString('base64url')])
      await expect(test.list(agentId, { cursor })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
