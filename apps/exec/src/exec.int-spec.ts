import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  aCommand,
  execRequests,
  idOf,
  startTestExec,
  type TestExec,
} from './fixtures/exec.fixture.js';

let test: TestExec;
let agentId: string;

beforeAll(async () => {
  test = await startTestExec();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.far.reset();
  agentId = newId('agt');
});

describe('an attached execution', () => {
  it('answers the result, which can be read again', async () => {
    const submit = aCommand(agentId, { command: 'echo hello' });
    const submitted = await test.ask(execRequests.submit, submit);
    const executionId = idOf(submit);
    const execution = { executionId, status: 'completed', exitCode: 0, stdout: 'echo hello', stderr: '' };
    expect(submitted).toEqual({ kind: 'execution', execution });
    const ref = { accountId: ACCOUNT, agentId, executionId };
    expect(await test.ask(execRequests.get, ref)).toEqual(execution);
    expect(await test.ask(execRequests.cancel, { ...submit, commandId: newId('cmd'), executionId })).toEqual(
      execution,
    );
    expect(await test.history(executionId)).toEqual(['ExecutionSubmitted', 'ExecutionEnded']);
    const list = await test.ask(execRequests.list, {
      accountId: ACCOUNT,
      agentId,
      status: null,
      cursor: null,
      limit: 10,
    });
    expect(list.items.map((item) => item.executionId)).toEqual([executionId]);
  });
});
