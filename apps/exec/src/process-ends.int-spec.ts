import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { startExecProcess } from './fixtures/exec-process.fixture.js';
import { aCommand, execRequests, idOf, startTestExec } from './fixtures/exec.fixture.js';

const agentId = newId('agt');

describe('a process that is killed', () => {
  it('while a caller waits leaves the command running, and another process returns its end', async () => {
    const alone = await startTestExec();
    const killed = await startExecProcess(alone.env);
    const submit = aCommand(agentId, { command: 'sleep' });
    let submitted: Promise<unknown>;
    try {
      await alone.stopService();
      submitted = alone.ask(execRequests.submit, submit).catch((error: unknown) => error);
      await eventually(() => alone.fakes.journal.has(idOf(submit)));
    } finally {
      await killed.kill();
    }
    expect(await submitted).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    const successor = await alone.another();
    const awaited = alone.ask(execRequests.await, { ...alone.ref(agentId, idOf(submit)), waitMs: 20_000 });
    await eventually(() => alone.fakes.requestsOf(runtimeRequests.findExecution).length > 0);
    alone.fakes.finish(idOf(submit), { stdout: 'survived' });
    expect(await awaited).toMatchObject({ status: 'completed', stdout: 'survived' });
    expect(alone.fakes.starts.get(idOf(submit))).toBe(1);
    await successor.stop();
    await alone.stop();
  });
});

describe('a process that stops', () => {
  it('sends waiting callers to another process at once, and their command continues', async () => {
    const first = await startTestExec();
    const submit = aCommand(agentId, { command: 'sleep' });
    const submitted = first.ask(execRequests.submit, submit).catch((error: unknown) => error);
    await eventually(() => first.fakes.journal.has(idOf(submit)));
    const second = await first.another();
    const begunAt = Date.now();
    await first.stopService();
    expect(Date.now() - begunAt).toBeLessThan(4_000);
    expect(await submitted).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    const awaited = first.ask(execRequests.await, { ...first.ref(agentId, idOf(submit)), waitMs: 20_000 });
    await eventually(() => first.fakes.requestsOf(runtimeRequests.findExecution).length > 0);
    first.fakes.finish(idOf(submit), { stdout: 'went on' });
    expect(await awaited).toMatchObject({ status: 'completed', stdout: 'went on' });
    await second.stop();
    await first.stop();
  });
});
